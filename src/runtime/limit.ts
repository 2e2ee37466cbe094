/** Like `Promise.all` over a map, at most `atOnce` at a time. After a failure nothing more is begun. */
export async function mapLimited<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  if (!(atOnce >= 1)) throw new Error(`a limit must be at least 1, not ${atOnce}`);
  const results: Result[] = [];
  const left = shared(items);
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

/** What several loops take from in turn. A loop that fails closes it, which ends the others. */
function* shared<Item>(items: readonly Item[]): Generator<[number, Item], void, undefined> {
  yield* items.entries();
}

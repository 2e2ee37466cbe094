/** Runs what it is given, at most so many at once, the rest in the order they came. */
export type Limit = <T>(work: () => Promise<T>) => Promise<T>;

export function createLimit(atOnce: number): Limit {
  if (!(atOnce >= 1)) throw new Error(`a limit must be at least 1, not ${atOnce}`);
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

/** Like `Promise.all` over a map, at most `atOnce` at a time. After a failure nothing more is begun. */
export async function mapLimited<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const limit = createLimit(atOnce);
  const failure = new AbortController();
  const one = async (item: Item): Promise<Result> => {
    failure.signal.throwIfAborted();
    try {
      return await work(item);
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  };
  return Promise.all(items.map((item) => limit(() => one(item))));
}

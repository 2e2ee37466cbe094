/** For lists as long as clusters have nodes: what is spread into the arguments of a call fails above a hundred thousand. */

export function leastOf(numbers: readonly number[]): number {
  return numbers.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY);
}

/** The items of all lists, in a list without room to grow in: it is kept. */
export function joined<T>(lists: readonly (readonly T[])[]): T[] {
  const all = new Array<T>(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) for (const item of list) all[at++] = item;
  return all;
}

import { type Cidr, compareCidrs, contains } from "./cidr.ts";

/** A network and whose it is. */
export interface Declared {
  readonly cidr: Cidr;
}

export interface Overlapping<T> {
  /** At most as many as were asked for; who was given first stands first. */
  readonly pairs: readonly (readonly [T, T])[];
  /** How many there are. */
  readonly total: number;
}

/**
 * The pairs of which one network lies in the other, in n log n: people who may declare networks may declare thousands, all
 * the same, and there are as many pairs as the square of that.
 */
export function overlapping<T extends Declared>(declared: readonly T[], most: number): Overlapping<T> {
  const places = new Map(declared.map((one, place) => [one, place]));
  const inOrder = (a: T, b: T): readonly [T, T] => ((places.get(a) ?? 0) < (places.get(b) ?? 0) ? [a, b] : [b, a]);
  const pairs: (readonly [T, T])[] = [];
  /** What the next network may lie in, from the outermost to the innermost. */
  const around: T[] = [];
  let total = 0;
  for (const inner of [...declared].sort((a, b) => compareCidrs(a.cidr, b.cidr))) {
    dropWhile(around, ({ cidr }) => !contains(cidr, inner.cidr));
    total += around.length;
    for (const outer of around.slice(0, most - pairs.length)) pairs.push(inOrder(outer, inner));
    around.push(inner);
  }
  return { pairs: pairs.sort(byPlaces(places)), total };
}

/** Takes from the end. */
function dropWhile<T>(list: T[], isOver: (item: T) => boolean): void {
  for (let last = list.at(-1); last !== undefined && isOver(last); last = list.at(-1)) list.pop();
}

function byPlaces<T>(places: ReadonlyMap<T, number>) {
  const at = (one: T): number => places.get(one) ?? 0;
  return ([a, b]: readonly [T, T], [c, d]: readonly [T, T]): number => at(a) - at(c) || at(b) - at(d);
}

export interface BackoffRange {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Before the n-th retry (from 0): anything up to the doubled ceiling, so that many clients do not return together. */
export function backoffMs(range: BackoffRange, attempt: number, random: () => number): number {
  const ceiling = Math.min(range.maxMs, range.firstMs * 2 ** Math.min(attempt, 40));
  return Math.round(ceiling * random());
}

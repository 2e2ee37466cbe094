import type { KubeError } from "./errors.ts";

/** How often lists and watches failed, by verb and kind of error: `list forbidden`. */
export type ReadFailures = ReadonlyMap<string, number>;

export const noReadFailures: ReadFailures = new Map();

export function failureAdded(known: Map<string, number>, { verb, kind }: KubeError): void {
  const failure = `${verb} ${kind}`;
  known.set(failure, (known.get(failure) ?? 0) + 1);
}

export function failuresAdded(a: ReadFailures, b: ReadFailures): ReadFailures {
  const sum = new Map(a);
  for (const [failure, count] of b) sum.set(failure, (sum.get(failure) ?? 0) + count);
  return sum;
}

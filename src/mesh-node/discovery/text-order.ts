/** By code units: the same on every machine, whatever its language. */
export function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** Negative when `a` is the older. Versions are decimal integers of any length. */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

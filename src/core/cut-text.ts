/**
 * The text in at most so many characters, none of them a control character: what others wrote must not make a status big,
 * and what an API server stores must be what we wrote.
 */
export function cutText(text: string, longest: number): string {
  const plain = text.slice(0, longest + 1).replace(/\p{Cc}/gu, " ");
  if (plain.length <= longest) return plain;
  const cut = plain.slice(0, longest - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/**
 * Works a question out again only when it differs from the one before: every part the same, or a list of the same things.
 * `work` must look at nothing but the question, and nothing in a question may change later: then no answer is ever old.
 */
export function remembered<Question extends object, Answer>(
  work: (question: Question) => Answer,
): (question: Question) => Answer {
  let last: { readonly question: Question; readonly answer: Answer } | undefined;
  return (question) => {
    if (!last || !isSame(last.question, question)) last = { question, answer: work(question) };
    return last.answer;
  };
}

function isSame<Question extends object>(a: Question, b: Question): boolean {
  for (const part in b) if (!isSamePart(a[part], b[part])) return false;
  for (const part in a) if (!(part in b)) return false;
  return true;
}

function isSamePart(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

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

/** The same, and an answer of the same parts as before is the answer before: what follows from it is not asked again. */
export function steadily<Question extends object, Answer extends object>(
  work: (question: Question) => Answer,
): (question: Question) => Answer {
  const same = remembered((answer: Answer) => answer);
  return remembered((question) => same(work(question)));
}

/** What the members of a list are asked in: each with its partner in another list, and all in the same surroundings. */
export interface Asked<Other, Around extends object> {
  readonly others?: readonly Other[];
  readonly around?: Around;
}

export type Each<One, Answer, Other = undefined, Around extends object = object> = (
  ones: readonly One[],
  asked?: Asked<Other, Around>,
) => readonly Answer[];

/**
 * Works out again only those members of a list that differ from the one in their place before, or whose partner does. The
 * others are not even looked at: to look at thousands of objects takes longer than to compare thousands of references. The
 * list of answers is the one before while it would say the same.
 */
export function rememberedEach<One, Answer, Other = undefined, Around extends object = object>(
  work: (one: One, other: Other, around: Around) => Answer,
): Each<One, Answer, Other, Around> {
  const none = { ones: [] as readonly One[], others: [] as readonly Other[], answers: [] as readonly Answer[] };
  let last = { ...none, around: {} };
  return (ones, { others = none.others, around = {} as Around } = {}) => {
    const before = isSame(last.around, around) ? last : none;
    if (before.ones === ones && before.others === others) return before.answers;
    const places = differingPlaces(before, { ones, others });
    const fresh = places.map((place) => work(ones[place] as One, others[place] as Other, around));
    last = { ones, others, around, answers: amended(before.answers, ones.length, { places, fresh }) };
    return last.answers;
  };
}

interface Paired {
  readonly ones: readonly unknown[];
  readonly others: readonly unknown[];
}

function differingPlaces(before: Paired, now: Paired): readonly number[] {
  const places: number[] = [];
  for (let place = 0; place < now.ones.length; place++) {
    const isSame = before.ones[place] === now.ones[place] && before.others[place] === now.others[place];
    if (!isSame || place >= before.ones.length) places.push(place);
  }
  return places;
}

interface Amendment<Answer> {
  readonly places: readonly number[];
  readonly fresh: readonly Answer[];
}

function amended<Answer>(known: readonly Answer[], length: number, { places, fresh }: Amendment<Answer>) {
  if (known.length === length && fresh.every((answer, index) => answer === known[places[index] ?? -1])) return known;
  const answers = known.slice(0, length);
  for (const [index, answer] of fresh.entries()) answers[places[index] ?? -1] = answer;
  return answers;
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

import fc from "fast-check";

/** A value that JSON can hold, and what is often the cause of trouble. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, 5, "", [], {}, [null], [5], { toString: 5 }, "__proto__", "::/0", Number.MAX_VALUE),
);

/** The value with some of what it holds, at any depth, as something else. */
export function spoilt(value: unknown): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: spoiltWithin(value), weight: 8 }, anything);
}

function spoiltWithin(value: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(value)) return fc.tuple(...value.map(spoilt));
  return typeof value === "object" && value !== null ? fc.record(spoiltFields(value)) : fc.constant(value);
}

const spoiltFields = (value: object): Record<string, fc.Arbitrary<unknown>> =>
  Object.fromEntries(Object.entries(value).map(([name, field]) => [name, spoilt(field)]));

/** An object of the API, of which only name and version are sure: those are checked where objects arrive. */
export function spoiltObject<T extends { readonly metadata: object }>({ metadata, ...rest }: T): fc.Arbitrary<T> {
  const known = { name: fc.constant("n"), resourceVersion: fc.constant("1") };
  const all = { ...spoiltFields(rest), metadata: fc.record({ ...spoiltFields(metadata), ...known }) };
  return fc.record(all) as fc.Arbitrary<unknown> as fc.Arbitrary<T>;
}

type Container = Readonly<Record<string, unknown>>;

const none: readonly string[] = [];

/**
 * True when two values that JSON can hold are the same, but for the `passedOver` fields of the outermost ones.
 * `isDeepStrictEqual` also looks for all that JSON cannot hold, which takes several times as long, and memory. Fields are
 * not walked with `for in`: V8 compiles that for one shape of object, and again for the next, without end.
 */
export function sameJson(a: unknown, b: unknown, passedOver = none): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(a, b);
  return isContainer(a) && isContainer(b) && sameFields(a, b, passedOver);
}

function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
}

function sameFields(a: Container, b: Container, passedOver: readonly string[]): boolean {
  const fields = Object.keys(a);
  if (countOf(fields, passedOver) !== countOf(Object.keys(b), passedOver)) return false;
  return fields.every(
    (field) => passedOver.includes(field) || (Object.hasOwn(b, field) && sameJson(a[field], b[field])),
  );
}

/** Of the fields that count. Lists of them would be made for every one of thousands of objects. */
function countOf(fields: readonly string[], passedOver: readonly string[]): number {
  let count = fields.length;
  for (const field of passedOver) if (fields.includes(field)) count--;
  return count;
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

/** What is wrong with one field of a document, and what to do. Never holds the field's value. */
export interface FieldProblem {
  readonly path: string;
  readonly message: string;
}

/**
 * One object of a document from outside, read field by field. Absent, `null` and empty fields are the same; a field
 * of the wrong shape is a problem, collected in the list that all readers of a document share.
 */
export class Fields {
  readonly #path: string;
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #problems: FieldProblem[];

  constructor(value: unknown, path: string, problems: FieldProblem[]) {
    this.#path = path;
    this.#problems = problems;
    this.#value = isRecord(value) ? value : {};
    if (!isRecord(value)) this.problem(undefined, value === undefined ? "is missing" : "must be an object");
  }

  /** Notes a problem of a field, or of this object itself. */
  problem(field: string | undefined, message: string): undefined {
    const path = [this.#path, field].filter(Boolean).join(".");
    this.#problems.push({ path: path || "kubeconfig", message });
  }

  has(field: string): boolean {
    const value = this.#get(field);
    return value !== undefined && value !== null && value !== "" && value !== false && !isEmptyList(value);
  }

  text(field: string): string | undefined {
    if (!this.has(field)) return undefined;
    const value = this.#get(field);
    return typeof value === "string" ? value : this.problem(field, "must be text; put the value in quotes");
  }

  flag(field: string): boolean {
    if (!this.has(field)) return false;
    const value = this.#get(field);
    if (typeof value !== "boolean") this.problem(field, "must be true or false");
    return value === true;
  }

  object(field: string): Fields {
    return new Fields(this.#get(field) ?? undefined, this.#at(field), this.#problems);
  }

  /** The `inner` object of the one entry of a list that is called `name`. */
  named(list: string, name: string, inner: string): Fields | undefined {
    const entries = this.#get(list);
    if (!Array.isArray(entries)) return this.problem(list, "must be a list");
    const indices = entries.flatMap((entry, index) => (isRecord(entry) && entry.name === name ? [index] : []));
    const [index] = indices;
    if (index === undefined) return this.problem(list, `has no entry named ${quote(name)}`);
    if (indices.length > 1) return this.problem(list, `has more than one entry named ${quote(name)}`);
    return new Fields(entries[index], `${this.#at(list)}[${index}]`, this.#problems).object(inner);
  }

  #at(field: string): string {
    return [this.#path, field].filter(Boolean).join(".");
  }

  #get(field: string): unknown {
    return Object.hasOwn(this.#value, field) ? this.#value[field] : undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function quote(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
}

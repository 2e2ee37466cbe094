/** Remembers what was said about whom, so that the log says it once. Forgets everything when it is full. */
export class Told {
  readonly #max: number;
  readonly #said = new Map<string, Set<string>>();

  constructor(max: number) {
    this.#max = max;
  }

  /** True the first time. */
  isNew(whom: string, what: string): boolean {
    const said = this.#said.get(whom) ?? new Set();
    if (said.has(what)) return false;
    if (this.#said.size >= this.#max) this.#said.clear();
    this.#said.set(whom, said.add(what));
    return true;
  }

  forget(whom: string): void {
    this.#said.delete(whom);
  }
}

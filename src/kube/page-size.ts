const fewest = 10;

/**
 * How many objects a page of a list may hold. A server that fails is asked for half as many at a time, because it may be
 * slow or its objects large; one that has answered, for twice as many.
 */
export class PageSize {
  readonly #most: number;
  #current: number;

  constructor(most: number) {
    this.#most = most;
    this.#current = most;
  }

  get current(): number {
    return this.#current;
  }

  failed(): void {
    this.#current = Math.min(this.#current, Math.max(fewest, Math.floor(this.#current / 2)));
  }

  answered(): void {
    this.#current = Math.min(this.#most, 2 * this.#current);
  }
}

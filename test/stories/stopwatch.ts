/** Measures what stories do, in real seconds. */
export class Stopwatch {
  readonly #isBounding: boolean;
  readonly #times: string[] = [];

  constructor(isBounding: boolean) {
    this.#isBounding = isBounding;
  }

  /** What was measured, in words. */
  get times(): readonly string[] {
    return this.#times;
  }

  async timed(what: string, mostSeconds: number, action: () => Promise<void>): Promise<void> {
    const startedMs = performance.now();
    await action();
    const seconds = (performance.now() - startedMs) / 1000;
    const told = `${what} after ${seconds.toFixed(1)} s`;
    if (this.#isBounding && seconds >= mostSeconds) throw new Error(`${told}, to be under ${mostSeconds} s`);
    this.#times.push(told);
  }
}

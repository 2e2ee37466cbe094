import { MalformedError } from "./bytes.ts";
import type { Frame } from "./frames.ts";
import { type Received, Reconciliation } from "./reconcile.ts";
import type { DocumentKey, LiveVersion } from "./version.ts";

interface Running {
  readonly reconciliation: Reconciliation;
  isIdle: boolean;
}

const maxStarted = 64;
const maxRunning = 512;

/** The reconciliations with one peer: at most 64 of those that begin here at once, the others wait. */
export class Reconciliations {
  readonly #running = new Map<DocumentKey, Running>();
  readonly #due = new Set<DocumentKey>();
  readonly #waiting = new Map<DocumentKey, () => LiveVersion | undefined>();

  get size(): number {
    return this.#running.size + this.#waiting.size;
  }

  /** `current` is asked for the version when it begins. */
  begin(key: DocumentKey, current: () => LiveVersion | undefined): void {
    if (!this.#running.has(key)) this.#waiting.set(key, current);
  }

  /** What the message brought; nothing when it was a last word about what is over here. */
  receive(version: LiveVersion, frame: Frame & { kind: "sync" }): Received | undefined {
    const { key, isLast, message } = frame;
    const known = this.#running.get(key);
    if (isLast && !known) return undefined;
    const running = known?.reconciliation.generation === version.generation ? known : this.#start(key, version);
    running.isIdle = false;
    const received = running.reconciliation.receive(message);
    if (isLast) this.#end(key);
    else this.#due.add(key);
    return received;
  }

  next(): Frame | undefined {
    this.#startWaiting();
    for (const key of this.#due) {
      this.#due.delete(key);
      const frame = this.#speak(key);
      if (frame) return frame;
    }
    return undefined;
  }

  /** Ends those in which nothing has happened since the last call: the peer has given them up. */
  endIdle(): void {
    for (const [key, running] of this.#running) {
      if (running.isIdle) this.#end(key);
      running.isIdle = true;
    }
  }

  /** The life of the document that it was about is over. */
  end(key: DocumentKey): void {
    this.#waiting.delete(key);
    this.#end(key);
  }

  endAll(): void {
    this.#waiting.clear();
    for (const key of [...this.#running.keys()]) this.#end(key);
  }

  #startWaiting(): void {
    for (const [key, current] of this.#waiting) {
      if (this.#running.size >= maxStarted) return;
      this.#waiting.delete(key);
      const version = current();
      if (!version) continue;
      this.#start(key, version);
      this.#due.add(key);
    }
  }

  #speak(key: DocumentKey): Frame | undefined {
    const running = this.#running.get(key);
    if (!running) return undefined;
    const { generation } = running.reconciliation;
    const { message, isLast } = running.reconciliation.next();
    if (isLast) this.#end(key);
    return message && { kind: "sync", key, generation, isLast, message };
  }

  #start(key: DocumentKey, version: LiveVersion): Running {
    this.#end(key);
    if (this.#running.size >= maxRunning) throw new MalformedError("too many reconciliations at once");
    const running: Running = { reconciliation: new Reconciliation(version), isIdle: false };
    this.#running.set(key, running);
    return running;
  }

  #end(key: DocumentKey): void {
    this.#running.get(key)?.reconciliation.end();
    this.#running.delete(key);
    this.#due.delete(key);
  }
}

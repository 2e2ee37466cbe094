import type { ObjectMeta } from "./object.ts";
import type { Progress } from "./progress.ts";

const mostAwaited = 1000;

/**
 * Our own writes that the watch has yet to repeat. Such an event tells nothing that the answer to the write did not, so
 * it is recognised by its bytes and not read: a mesh that is built hears of every one of its thousands of Peers twice.
 */
export class OwnWrites {
  readonly #progress: Progress;
  /** Uids by version. One that is forgotten costs the reading of its event and nothing else. */
  readonly #awaited = new Map<string, string>();

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  /** A write was answered with this object, and we hold what it says. */
  add({ resourceVersion, uid }: ObjectMeta): void {
    if (!resourceVersion || !uid || this.#progress.isPast(resourceVersion)) return;
    if (this.#awaited.size >= mostAwaited) this.#awaited.clear();
    this.#awaited.set(resourceVersion, uid);
  }

  /** True when a line of the watch repeats a write of ours. It counts as seen then. */
  areRepeatedBy(line: Buffer): boolean {
    if (this.#awaited.size === 0) return false;
    // Byte for byte: what is looked for has no other characters, and a text is searched many times faster than bytes are.
    const text = line.toString("latin1");
    const version = versionIn(text);
    const uid = version === undefined ? undefined : this.#awaited.get(version);
    if (version === undefined || uid === undefined || !text.includes(`"uid":"${uid}"`)) return false;
    this.#awaited.delete(version);
    this.#progress.advance(version);
    return true;
  }

  /** A list was read: the watch after it does not go back, and may tell of a new history, in which versions repeat. */
  clear(): void {
    this.#awaited.clear();
  }
}

const changeStart = /^\{"type":"(ADDED|MODIFIED)","object":\{/;
const field = '"resourceVersion":"';

/**
 * The version of a changed object, where there is no doubt about it. A quote inside a text of JSON has a backslash before
 * it, so what is found is a field and never a part of a text. Where it stands more than once, as a label of that name
 * would make it, the line has to be read.
 */
function versionIn(line: string): string | undefined {
  if (!changeStart.test(line)) return undefined;
  const at = line.indexOf(field);
  if (at === -1 || line.lastIndexOf(field) !== at) return undefined;
  const start = at + field.length;
  return line.slice(start, line.indexOf('"', start));
}

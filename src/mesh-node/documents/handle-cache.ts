import { createHandles, type Handle, headsOf, readContent } from "./automerge.ts";
import { type DocumentKey, type LiveVersion, liveVersion } from "./version.ts";

interface Held {
  readonly version: LiveVersion;
  readonly handle: Handle;
  /** The content, if who brings the handle knows it. */
  readonly json?: string;
}

/**
 * Loaded documents, at most `capacity`, the longest unused dropped first. A handle belongs to exactly one version: who
 * changes it takes it out and brings it back with the version it is now.
 */
export class HandleCache {
  readonly #factory = createHandles();
  readonly #capacity: number;
  readonly #maxJsonLength: number;
  readonly #held = new Map<DocumentKey, Held>();
  readonly #json = new WeakMap<LiveVersion, string>();

  constructor(options: { readonly capacity: number; readonly maxJsonLength: number }) {
    this.#capacity = options.capacity;
    this.#maxJsonLength = options.maxJsonLength;
  }

  create(): Handle {
    return this.#factory.create();
  }

  /** The caller must free the handle or `keep` it. */
  take(key: DocumentKey, version: LiveVersion): Handle {
    const held = this.#held.get(key);
    if (held?.version !== version) return this.#factory.load(version);
    this.#held.delete(key);
    return held.handle;
  }

  keep(key: DocumentKey, { version, handle, json }: Held): void {
    this.drop(key);
    this.#held.set(key, { version, handle });
    if (json !== undefined) this.#json.set(version, json);
    const [oldest] = this.#held.keys();
    if (oldest !== undefined && this.#held.size > this.#capacity) this.drop(oldest);
  }

  drop(key: DocumentKey): void {
    this.#held.get(key)?.handle.free();
    this.#held.delete(key);
  }

  /** Reads from a version; a newer one that is loaded stays loaded. */
  read<Result>(key: DocumentKey, version: LiveVersion, work: (handle: Handle) => Result): Result {
    const held = this.#held.get(key);
    if (held?.version === version) {
      this.#held.delete(key);
      this.#held.set(key, held);
      return work(held.handle);
    }
    const handle = this.#factory.load(version);
    const result = work(handle);
    if (held) handle.free();
    else this.keep(key, { version, handle });
    return result;
  }

  jsonOf(key: DocumentKey, version: LiveVersion): string {
    const known = this.#json.get(version);
    if (known !== undefined) return known;
    const json = this.read(key, version, (handle) => readContent(handle, this.#maxJsonLength));
    this.#json.set(version, json);
    return json;
  }

  /** The document that is in a version some changes of which may be lost; undefined when nothing can be read of it. */
  verified(version: LiveVersion): LiveVersion | undefined {
    const handle = this.#factory.load(version);
    try {
      readContent(handle, this.#maxJsonLength);
      return liveVersion(version.generation, headsOf(handle), [handle.save()]);
    } catch {
      return undefined;
    } finally {
      handle.free();
    }
  }

  /** What is not durable was taken back: changes must not be signed as before. */
  renewActor(): void {
    this.#factory.renewActor();
  }

  clear(): void {
    for (const key of [...this.#held.keys()]) this.drop(key);
  }
}

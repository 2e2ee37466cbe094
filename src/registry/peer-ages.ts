import { type Endpoint, endpointText, sameEndpoint } from "../core/endpoint.ts";
import type { PeerName } from "../core/ids.ts";
import type { HeldPeer } from "../core/peer.ts";
import type { Ages } from "../core/world.ts";

interface Since<What> {
  readonly what: What;
  readonly sinceMs: number;
}

/** Remembers since when Peers are as they are. Times are monotonic, and a restart counts anew. */
export class PeerAges {
  readonly #moves = new Map<PeerName, Since<string>>();
  readonly #endpoints = new Map<PeerName, Since<Endpoint | undefined>>();

  /** Somebody, perhaps we, changed the Peer, or we see it for the first time. */
  changed(name: PeerName, after: HeldPeer | undefined, nowMs: number): void {
    const moving = after?.move ? `${after.move} ${after.endpoint ? endpointText(after.endpoint) : ""}` : undefined;
    if (moving === undefined) this.#moves.delete(name);
    else if (this.#moves.get(name)?.what !== moving) this.#moves.set(name, { what: moving, sinceMs: nowMs });
    if (!after || !this.#isWritten(after)) this.#endpoints.delete(name);
  }

  /**
   * We wrote the Peer. Its endpoint is as old as the first of our writes that gave it. Nobody asks of one that is where
   * the node says: those are thousands.
   */
  wrote(after: HeldPeer, nowMs: number): void {
    if (after.declared !== "" && !this.#isWritten(after))
      this.#endpoints.set(after.name, { what: after.endpoint, sinceMs: nowMs });
  }

  moveAgesMs(nowMs: number): Ages {
    return agesOf(this.#moves, nowMs);
  }

  endpointAgesMs(nowMs: number): Ages {
    return agesOf(this.#endpoints, nowMs);
  }

  #isWritten({ name, endpoint }: HeldPeer): boolean {
    const written = this.#endpoints.get(name);
    return written !== undefined && sameEndpoint(written.what, endpoint);
  }
}

function agesOf(notes: ReadonlyMap<PeerName, Since<unknown>>, nowMs: number): Ages {
  return {
    get: (name) => {
      const since = notes.get(name);
      return since && nowMs - since.sinceMs;
    },
  };
}

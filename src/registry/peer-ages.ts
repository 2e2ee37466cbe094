import { endpointText } from "../core/endpoint.ts";
import type { PeerName } from "../core/ids.ts";
import type { HeldPeer } from "../core/peer.ts";
import type { Ages } from "../core/world.ts";

interface Since {
  readonly what: string;
  readonly sinceMs: number;
}

/** Remembers since when Peers are as they are. Times are monotonic, and a restart counts anew. */
export class PeerAges {
  readonly #moves = new Map<PeerName, Since>();
  readonly #endpoints = new Map<PeerName, Since>();

  /** Somebody, perhaps we, changed the Peer, or we see it for the first time. */
  changed(name: PeerName, after: HeldPeer | undefined, nowMs: number): void {
    if (!after?.move) this.#moves.delete(name);
    else note(this.#moves, name, { what: `${after.move} ${placeOf(after)}`, sinceMs: nowMs });
    if (!after || this.#endpoints.get(name)?.what !== placeOf(after)) this.#endpoints.delete(name);
  }

  /** We wrote the Peer. Its endpoint is as old as the first of our writes that gave it. */
  wrote(after: HeldPeer, nowMs: number): void {
    note(this.#endpoints, after.name, { what: placeOf(after), sinceMs: nowMs });
  }

  moveAgesMs(nowMs: number): Ages {
    return agesOf(this.#moves, nowMs);
  }

  endpointAgesMs(nowMs: number): Ages {
    return agesOf(this.#endpoints, nowMs);
  }
}

function note(notes: Map<PeerName, Since>, name: PeerName, since: Since): void {
  if (notes.get(name)?.what !== since.what) notes.set(name, since);
}

const placeOf = ({ endpoint }: HeldPeer): string => (endpoint ? endpointText(endpoint) : "");

function agesOf(notes: ReadonlyMap<PeerName, Since>, nowMs: number): Ages {
  return {
    get: (name) => {
      const since = notes.get(name);
      return since && nowMs - since.sinceMs;
    },
  };
}

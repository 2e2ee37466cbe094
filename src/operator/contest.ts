import type { PeerChange } from "../core/diff.ts";
import { sameEndpoint } from "../core/endpoint.ts";
import type { ConnectionId, PeerName } from "../core/ids.ts";
import type { Peer } from "../core/peer.ts";
import type { Refusal } from "../core/status.ts";
import { sameTexts } from "../core/texts.ts";
import type { Clock } from "../runtime/clock.ts";

const undoneTimes = 3;
const withinMs = 600_000;
const backOffMs = 300_000;

interface Written {
  readonly wish: Peer;
  readonly atMs: readonly number[];
}

/** A change that brings a Peer to what we want. */
type Wishing = Extract<PeerChange, { peer: Peer }>;

type Write = (changes: readonly PeerChange[]) => Promise<readonly Refusal[]>;

/**
 * Notices that somebody keeps undoing a Peer: who writes the same wish again and again fights, and every round costs
 * all nodes of the target a session. Then it waits five minutes between tries and says so.
 */
export class Contest {
  readonly #clock: Clock;
  readonly #written = new Map<ConnectionId, Map<PeerName, Written>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async guard(target: ConnectionId, changes: readonly PeerChange[], write: Write): Promise<readonly Refusal[]> {
    const contested = changes.filter((change) => this.#isContested(target, change));
    const free = changes.filter((change) => !contested.includes(change));
    const refusals = await write(free);
    const refused = new Set(refusals.map(({ peer }) => peer));
    for (const change of free.filter(isWishing)) if (!refused.has(change.peer.name)) this.#note(target, change);
    this.#forgetOld();
    return [...refusals, ...contested.map(refusalOf)];
  }

  #isContested(target: ConnectionId, change: PeerChange): boolean {
    if (!isWishing(change)) return false;
    const written = this.#written.get(target)?.get(change.peer.name);
    if (!written || !sameWish(written.wish, change.peer)) return false;
    const lately = this.#lately(written.atMs);
    return lately.length >= undoneTimes && this.#clock.now() - (lately.at(-1) ?? 0) < backOffMs;
  }

  #note(target: ConnectionId, { peer: wish }: Wishing): void {
    const known = this.#written.get(target) ?? new Map<PeerName, Written>();
    const before = known.get(wish.name);
    const lately = before && sameWish(before.wish, wish) ? this.#lately(before.atMs) : [];
    known.delete(wish.name);
    known.set(wish.name, { wish, atMs: [...lately, this.#clock.now()] });
    this.#written.set(target, known);
  }

  /** Of every target: one that was left is written to no more. The oldest come first. */
  #forgetOld(): void {
    for (const [target, written] of this.#written) {
      for (const [name, { atMs }] of written) {
        if (this.#lately(atMs).length > 0) break;
        written.delete(name);
      }
      if (written.size === 0) this.#written.delete(target);
    }
  }

  #lately(atMs: readonly number[]): number[] {
    return atMs.filter((time) => this.#clock.now() - time < withinMs);
  }
}

const isWishing = (change: PeerChange): change is Wishing => "peer" in change;

function sameWish(a: Peer, b: Peer): boolean {
  const texts = ({ routes }: Peer): string[] => routes.map(({ text }) => text);
  return (
    a.publicKey === b.publicKey &&
    sameEndpoint(a.endpoint, b.endpoint) &&
    a.keepaliveSeconds === b.keepaliveSeconds &&
    sameTexts(texts(a), texts(b)) &&
    sameTexts(a.owners, b.owners)
  );
}

function refusalOf(change: PeerChange): Refusal {
  const { name, owners } = "peer" in change ? change.peer : change.held;
  const text = `${change.action} ${name}: Contested, somebody else keeps undoing it`;
  return { peer: name, owners, text, reason: "Contested" };
}

import type { PeerChange } from "../core/diff.ts";
import { endpointText } from "../core/endpoint.ts";
import type { ConnectionId, PeerName } from "../core/ids.ts";
import type { HeldPeer, Peer } from "../core/peer.ts";
import type { Refusal } from "../core/status.ts";
import { fingerprint } from "../core/texts.ts";
import type { Clock } from "../runtime/clock.ts";

const undoneTimes = 3;
const withinMs = 600_000;
const backOffMs = 300_000;

interface Written {
  /** What was wished for, as a number: thousands of Peers that nobody undoes are remembered too. */
  readonly wish: number;
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
    const justNow = [this.#clock.now()];
    for (const change of free) {
      if (refused.has(nameOf(change))) continue;
      if (isWishing(change)) this.#note(target, change.peer, justNow);
      else this.#forget(target, change.held.name);
    }
    this.#forgetOld();
    return [...refusals, ...contested.map(refusalOf)];
  }

  #isContested(target: ConnectionId, change: PeerChange): boolean {
    if (!isWishing(change)) return false;
    const written = this.#written.get(target)?.get(change.peer.name);
    if (!written || written.wish !== wishOf(change.peer)) return false;
    const lately = this.#lately(written.atMs);
    return lately.length >= undoneTimes && this.#clock.now() - (lately.at(-1) ?? 0) < backOffMs;
  }

  /** What was written together shares its time: for most Peers it stays the only one. */
  #note(target: ConnectionId, peer: Peer, justNow: readonly number[]): void {
    const known = this.#written.get(target) ?? new Map<PeerName, Written>();
    const before = known.get(peer.name);
    const wish = wishOf(peer);
    const lately = before?.wish === wish ? this.#lately(before.atMs) : [];
    known.delete(peer.name);
    known.set(peer.name, { wish, atMs: lately.length > 0 ? [...lately, ...justNow] : justNow });
    this.#written.set(target, known);
  }

  /** We have undone it ourselves: what comes next is no answer to anybody. */
  #forget(target: ConnectionId, name: PeerName): void {
    this.#written.get(target)?.delete(name);
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

function wishOf({ publicKey, endpoint, keepaliveSeconds, routes, owners }: Peer): number {
  const networks = routes.map(({ text }) => text);
  return fingerprint([publicKey, endpointText(endpoint), keepaliveSeconds, ...networks, ...owners].join(" "));
}

const subjectOf = (change: PeerChange): Peer | HeldPeer => (isWishing(change) ? change.peer : change.held);

const nameOf = (change: PeerChange): PeerName => subjectOf(change).name;

function refusalOf(change: PeerChange): Refusal {
  const { name, owners } = subjectOf(change);
  const text = `${change.action} ${name}: Contested, somebody else keeps undoing it`;
  return { peer: name, owners, text, reason: "Contested" };
}

import type { PeerChange } from "../core/diff.ts";
import type { ConnectionId } from "../core/ids.ts";
import type { Peer } from "../core/peer.ts";
import type { Refusal } from "../core/status.ts";
import type { Clock } from "../runtime/clock.ts";

const undoneTimes = 3;
const withinMs = 600_000;
const backOffMs = 300_000;

interface Written {
  readonly wish: string;
  readonly atMs: readonly number[];
}

type Write = (changes: readonly PeerChange[]) => Promise<readonly Refusal[]>;

/**
 * Notices that somebody keeps undoing a Peer: who writes the same wish again and again fights, and every round costs
 * all nodes of the target a session. Then it waits five minutes between tries and says so.
 */
export class Contest {
  readonly #clock: Clock;
  readonly #written = new Map<string, Written>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async guard(target: ConnectionId, changes: readonly PeerChange[], write: Write): Promise<readonly Refusal[]> {
    const contested = changes.filter((change) => this.#isContested(target, change));
    const free = changes.filter((change) => !contested.includes(change));
    const refusals = await write(free);
    const refused = new Set(refusals.map(({ peer }) => peer));
    for (const change of free) this.#note(target, change, refused);
    return [...refusals, ...contested.map(refusalOf)];
  }

  #isContested(target: ConnectionId, change: PeerChange): boolean {
    if (!("peer" in change)) return false;
    const written = this.#written.get(keyOf(target, change.peer));
    if (written?.wish !== wishOf(change.peer)) return false;
    const lately = this.#lately(written.atMs);
    return lately.length >= undoneTimes && this.#clock.now() - (lately.at(-1) ?? 0) < backOffMs;
  }

  #note(target: ConnectionId, change: PeerChange, refused: ReadonlySet<string>): void {
    if (!("peer" in change) || refused.has(change.peer.name)) return;
    const key = keyOf(target, change.peer);
    const wish = wishOf(change.peer);
    const before = this.#written.get(key);
    const lately = before?.wish === wish ? this.#lately(before.atMs) : [];
    this.#written.delete(key);
    this.#written.set(key, { wish, atMs: [...lately, this.#clock.now()] });
    this.#forgetOld();
  }

  #forgetOld(): void {
    for (const [key, { atMs }] of this.#written) {
      if (this.#lately(atMs).length > 0) return;
      this.#written.delete(key);
    }
  }

  #lately(atMs: readonly number[]): number[] {
    return atMs.filter((time) => this.#clock.now() - time < withinMs);
  }
}

const keyOf = (target: ConnectionId, { name }: Peer): string => `${target} ${name}`;

const wishOf = ({ publicKey, endpoint, routes, keepaliveSeconds, owners }: Peer): string =>
  JSON.stringify([publicKey, endpoint, routes.map(({ text }) => text), keepaliveSeconds, owners]);

function refusalOf(change: PeerChange): Refusal {
  const { name, owners } = "peer" in change ? change.peer : change.held;
  const text = `${change.action} ${name}: Contested, somebody else keeps undoing it`;
  return { peer: name, owners, text, reason: "Contested" };
}

import { backoffMs } from "../../runtime/backoff.ts";
import type { Peer } from "../discovery/roster.ts";
import type { EndpointId } from "../identity.ts";
import type { LinkReason } from "../reasons.ts";

/** How far we are with a peer that we want a link to. */
export interface Pursuit {
  readonly peer: Peer;
  /** What failed in a row: dials, and links that did not last. */
  readonly failures: number;
  readonly dueAtMs: number;
  readonly reason?: LinkReason;
}

export interface Moment {
  readonly nowMs: number;
  readonly random: () => number;
}

/** How a link ended. */
export interface LinkEnd {
  readonly reason: LinkReason;
  readonly lastedMs: number;
}

const backoff = { firstMs: 500, maxMs: 30_000 };
const formationRetryMs = 60_000;
const duplicateRetryMs = 500;
const secondDialerMs = 200;
const lastingMs = 10_000;

/** The side with the higher id gives the other a little time, so that most pairs are dialed once. */
export function beginPursuit(peer: Peer, self: EndpointId, { nowMs, random }: Moment): Pursuit {
  const headStartMs = self > peer.id ? Math.round(secondDialerMs * (1 + random())) : 0;
  return { peer, failures: 0, dueAtMs: nowMs + headStartMs };
}

/** A peer that is somewhere else now is tried at once, whatever happened where it was. */
export function updatePursuit(pursuit: Pursuit, peer: Peer, { nowMs }: Moment): Pursuit {
  const isNew = !sameAddresses(pursuit.peer, peer) || (peer.dialable && !pursuit.peer.dialable);
  return isNew ? { peer, failures: 0, dueAtMs: nowMs } : { ...pursuit, peer };
}

export function sameAddresses(one: Peer, other: Peer): boolean {
  return one.addresses.join() === other.addresses.join();
}

export function afterFailure(pursuit: Pursuit, reason: LinkReason, { nowMs, random }: Moment): Pursuit {
  const { peer, failures } = pursuit;
  if (reason === "Duplicate") return { ...pursuit, reason, dueAtMs: nowMs + duplicateRetryMs * (1 + random()) };
  return { peer, failures: failures + 1, dueAtMs: nowMs + retryAfterMs(pursuit, reason, random), reason };
}

/** A link that lasted makes up for what failed before it. */
export function afterLink(pursuit: Pursuit, end: LinkEnd, moment: Moment): Pursuit {
  const failures = end.lastedMs >= lastingMs ? 0 : pursuit.failures;
  return afterFailure({ ...pursuit, failures }, end.reason, moment);
}

/** Whom to dial now, at most so many. Those who failed less go first: a dead peer holds nobody up. */
export function dueNow(idle: readonly Pursuit[], nowMs: number, atMost: number): readonly Pursuit[] {
  return idle
    .filter(({ peer, dueAtMs }) => peer.dialable && dueAtMs <= nowMs)
    .sort((one, other) => one.failures - other.failures || one.dueAtMs - other.dueAtMs)
    .slice(0, Math.max(0, atMost));
}

/** Another key or formation is not cured by asking again soon. */
function retryAfterMs({ failures }: Pursuit, reason: LinkReason, random: () => number): number {
  if (reason === "FormationNotProven") return Math.round(formationRetryMs * (1 + random()));
  return backoffMs(backoff, failures, () => (1 + random()) / 2);
}

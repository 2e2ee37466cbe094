import { type Cidr, compareCidrs, contains, networksIn } from "./cidr.ts";
import type { PeerChange } from "./diff.ts";
import { routesOf } from "./peer.ts";
import { rangesOf } from "./ranges.ts";

/**
 * What to write now. A route that moves is on two Peers for a moment, never on none: what releases a route waits until
 * the Peer that takes it over has been written. The rest waits for the plans that follow. Peers that exchange routes wait
 * for each other: they go all at once, whatever becomes of the other writes.
 */
export function nextPhase(changes: readonly PeerChange[]): readonly PeerChange[] {
  const waits = waitsAmong(changes);
  if (waits.size === 0) return changes;
  const exchanging = exchangesIn(waits);
  return changes.filter((change) => !waits.has(change) || exchanging.has(change));
}

/** Each change that waits, with those it waits for. */
type Waits = ReadonlyMap<PeerChange, ReadonlySet<PeerChange>>;

function waitsAmong(changes: readonly PeerChange[]): Waits {
  const waits = new Map<PeerChange, Set<PeerChange>>();
  const note = (change: PeerChange, other: PeerChange): void => {
    waits.set(change, (waits.get(change) ?? new Set<PeerChange>()).add(other));
  };
  for (const [change, other] of [...takenOver(changes), ...survivors(changes)]) note(change, other);
  return waits;
}

type Wait = readonly [change: PeerChange, other: PeerChange];

interface Share {
  readonly route: Cidr;
  readonly change: PeerChange;
  readonly isGained: boolean;
}

/** What releases a route, with what gains it. One sweep in the order of routes: those around one are open when it comes. */
function takenOver(changes: readonly PeerChange[]): readonly Wait[] {
  const released = sharesOf(changes, releasedBy, false);
  if (released.length === 0) return [];
  const gained = sharesOf(changes, gainedBy, true);
  const open: Share[] = [];
  return [...gained, ...released].sort(byRoute).flatMap((share) => {
    for (let last = open.at(-1); last && !contains(last.route, share.route); last = open.at(-1)) open.pop();
    const met = open.filter(({ isGained }) => isGained !== share.isGained);
    open.push(share);
    return met.map((other): Wait => (share.isGained ? [other.change, share.change] : [share.change, other.change]));
  });
}

/** Deleting one of two Peers with one key makes Kilo forget the key: the survivor is marked before, and touched after. */
function survivors(changes: readonly PeerChange[]): readonly Wait[] {
  const deletes = changes.filter((change) => change.action === "delete");
  if (deletes.length === 0) return [];
  const marked = new Map(
    changes.flatMap((change) => ("peer" in change ? [[change.peer.publicKey as string, change]] : [])),
  );
  return deletes.flatMap((change): Wait[] => {
    const other = marked.get(change.held.publicKey);
    return other ? [[change, other]] : [];
  });
}

/** Those that wait for each other, and for nobody else. */
function exchangesIn(waits: Waits): ReadonlySet<PeerChange> {
  const later = followers(waits);
  const left = new Set([...waits.keys()].filter((change) => !later.has(change)));
  const awaited = [...left].flatMap((change) => [...(waits.get(change) ?? [])]);
  const times = new Map<PeerChange, number>();
  for (const change of awaited) times.set(change, (times.get(change) ?? 0) + 1);
  // Whom nobody waits for is in no exchange, and then nor is who was awaited by such alone.
  const idle = [...left].filter((change) => !times.has(change));
  for (const change of idle) {
    left.delete(change);
    for (const other of waits.get(change) ?? []) {
      const more = (times.get(other) ?? 0) - 1;
      times.set(other, more);
      if (more === 0) idle.push(other);
    }
  }
  return left;
}

/** Those that wait, at whatever remove, for one that waits for nobody. */
function followers(waits: Waits): ReadonlySet<PeerChange> {
  const pairs = [...waits].flatMap(([change, others]) => [...others].map((other) => ({ change, other })));
  const waiting = Map.groupBy(pairs, ({ other }) => other);
  const found = new Set([...waiting.keys()].filter((change) => !waits.has(change)));
  // A set gives what is added while it is gone through.
  for (const one of found) for (const { change } of waiting.get(one) ?? []) found.add(change);
  return found;
}

type RoutesOf = (change: PeerChange) => readonly Cidr[];

function sharesOf(changes: readonly PeerChange[], routes: RoutesOf, isGained: boolean): Share[] {
  return changes.flatMap((change) => routes(change).map((route) => ({ route, change, isGained })));
}

const byRoute = (a: Share, b: Share): number => compareCidrs(a.route, b.route);

/** No change gains what it releases: of two networks that overlap one contains the other. */
function gainedBy(change: PeerChange): readonly Cidr[] {
  if (change.action === "create") return change.peer.routes;
  if (change.action !== "update") return [];
  const before = routesOf(change.held);
  return change.peer.routes.filter((route) => !before.covers(route));
}

function releasedBy(change: PeerChange): readonly Cidr[] {
  if (change.action === "create") return [];
  const held = networksIn(change.held.allowedIps);
  if (change.action === "delete") return held;
  const after = rangesOf(change.action === "shrink" ? networksIn(change.routes) : change.peer.routes);
  return held.filter((route) => !after.covers(route));
}

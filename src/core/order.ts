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
  const gained = sharesOf(changes, gainedBy, true);
  const { touches } = rangesOf(gained.map(({ route }) => route));
  const released = sharesOf(changes, releasedBy, false).filter(({ route }) => touches(route));
  if (released.length === 0) return [];
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
  const among = narrowed(new Set(waits.keys()), (left) => (change) => waits.get(change)?.isSubsetOf(left) ?? false);
  return narrowed(among, (left) => {
    const awaited = new Set([...left].flatMap((change) => [...(waits.get(change) ?? [])]));
    return (change) => awaited.has(change);
  });
}

/** What is left when nothing more is to be left out. */
function narrowed(
  changes: ReadonlySet<PeerChange>,
  staying: (left: ReadonlySet<PeerChange>) => (change: PeerChange) => boolean,
): ReadonlySet<PeerChange> {
  let left = changes;
  for (;;) {
    const next = new Set([...left].filter(staying(left)));
    if (next.size === left.size) return left;
    left = next;
  }
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

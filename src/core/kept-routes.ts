import { type Cidr, isHost, networksIn, parseCidr } from "./cidr.ts";
import type { JudgedSource } from "./judge.ts";
import { declaredNetworks, declaredRanges, type MeshEntry } from "./mesh.ts";
import { ownRoutes } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import { aggregate, rangesOf } from "./ranges.ts";

/** What a Peer may keep of its routes. */
export type RouteKeeper = (held: HeldPeer) => readonly string[];

/** What the operator's owner still allows: the rest is taken back from any Peer, whatever keeps it. */
export function allowedKeeper(allowed: readonly Cidr[]): (routes: readonly string[]) => readonly string[] {
  const { within } = rangesOf(allowed);
  return (routes) => (allowed.length === 0 ? routes : partsIn(routes, within));
}

/**
 * What the present spec of a source still covers: a network that was revoked is taken back also from a source we cannot
 * see. And what no admitted node of the source has taken over.
 */
export function sourceKeeper({ entry, admitted }: JudgedSource): RouteKeeper {
  const claimed = rangesOf(admitted.flatMap(ownRoutes));
  const covered = coveredBy([entry]);
  return ({ allowedIps }) => partsIn(allowedIps, (route) => (claimed.covers(route) ? [] : covered(route)));
}

/** What the entries declare; the hosts of nodes nobody declares in the flat form. */
export function entriesKeeper(entries: readonly MeshEntry[]): RouteKeeper {
  const covered = coveredBy(entries);
  return ({ allowedIps }) => partsIn(allowedIps, covered);
}

function coveredBy(entries: readonly MeshEntry[]): (route: Cidr) => readonly Cidr[] {
  const declared = rangesOf(entries.flatMap(declaredNetworks));
  const isFlat = entries.some(({ networks }) => networks.form === "flat");
  return (route) => (isFlat && isHost(route) ? [route] : declared.within(route));
}

/** True when the Peer may be that of a node of the entry: by name, or by what it routes. */
export function mayBeOf(entry: MeshEntry, held: HeldPeer): boolean {
  return entry.name === held.source || routesInto(entry, held);
}

/** True when the Peer has something in the networks of the entry; hosts alone tell nobody whose node it is. */
export function routesInto(entry: MeshEntry, { allowedIps }: HeldPeer): boolean {
  return networksIn(allowedIps).some(declaredRanges(entry).touches);
}

/** What any of several may keep. Each list is made from the routes of the Peer. */
export function anyOf(
  { allowedIps }: HeldPeer,
  [first = [], ...others]: readonly (readonly string[])[],
): readonly string[] {
  if (others.length === 0) return first;
  const kept = new Set([first, ...others].flat());
  const whole = allowedIps.filter((text) => kept.has(text));
  const there = rangesOf(networksIn(whole));
  const parts = networksIn([...kept]).filter((route) => !there.covers(route));
  return [...whole, ...aggregate(parts).map(({ text }) => text)];
}

/** A route that may stay whole stays as it is written. We join routes, but never to the default route: that has no parts. */
function partsIn(texts: readonly string[], split: (route: Cidr) => readonly Cidr[]): string[] {
  return texts.flatMap((text) => {
    const route = parseCidr(text);
    const parts = route ? split(route) : [];
    if (parts[0] === route) return [text];
    return route?.prefix === 0 ? [] : parts.map((part) => part.text);
  });
}

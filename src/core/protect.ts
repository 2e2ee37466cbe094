import { type Cidr, contains, type IpAddress, networksIn, parseHostInCidr, parseIp } from "./cidr.ts";
import type { Claim } from "./claims.ts";
import type { ConnectionId } from "./ids.ts";
import { declaredRanges, rankOf } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import { onceFor } from "./once-per.ts";
import { meet, type Ranges, rangesOf } from "./ranges.ts";
import { leadsTo } from "./source.ts";
import { compareTexts } from "./texts.ts";
import type { World } from "./world.ts";

/** What routes that we write into a target may not cover. */
export interface Protection {
  /** What is really there: no route may cover it. */
  readonly own: readonly Ranges[];
  /** What entries of meshes declare for the target. */
  readonly declared: readonly Ranges[];
  /** Of the mesh of each. */
  readonly ranks: readonly string[];
  /** Where the tunnels of each share end, and after them those of others: no route may cover them. */
  readonly ends: readonly Ranges[];
  /** What a route has to lie in. Empty: anywhere. */
  readonly allowed: readonly Cidr[];
  /** Kilo cannot insert an IPv6 route where a node has an IPv4 internal address. */
  readonly ipv6: boolean;
}

/**
 * Kilo installs a route for everything a Peer allows, over whatever was there: one that covers the target's own pods, nodes
 * or Kilo subnet cuts them off, and one that covers an endpoint sends the tunnel into itself. What the target's nodes say of
 * themselves, and where tunnels end, is so. What a mesh declares for the target may be wrong, and anybody can declare: it
 * bars what the same mesh wants, and what newer meshes want and have not, and takes nothing away from another mesh.
 */
export function protectionOf(world: World, target: ConnectionId, ends: readonly Ranges[]): Protection {
  const observed = world.clusters.get(target)?.nodes;
  const nodes = routesOfNodes(observed?.state === "known" ? observed.items : nobody);
  const entries = world.meshes.flatMap((connected) =>
    connected.mesh.entries
      .filter(({ name }) => leadsTo(connected, name) === target)
      .map((entry) => ({ declared: declaredRanges(entry), rank: rankOf(connected.mesh) })),
  );
  return {
    own: [nobodys, nodes.own],
    ends,
    declared: entries.map(({ declared }) => declared),
    ranks: entries.map(({ rank }) => rank),
    allowed: world.allowedCidrs,
    ipv6: observed?.state !== "known" || nodes.ipv6Only,
  };
}

const nobody: readonly NodeFacts[] = [];

/** Where no other machine can be: this one, its links, and groups of machines. */
const nobodys = rangesOf(
  networksIn(["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3", "::/127", "fe80::/10", "ff00::/8"]),
);

export function mayRoute(protection: Protection, claim: Claim): boolean {
  const { ends, declared, ranks } = protection;
  const { route, incumbent } = claim;
  const rank = isBearable(protection, claim) ? firstUnbarred(protection, claim) : undefined;
  if (rank === undefined || ends.some((ranges) => ranges.touches(route))) return false;
  const isOlder = (other = ""): boolean => compareTexts(other, rank) < 0;
  return incumbent || !declared.some((ranges, index) => isOlder(ranks[index]) && ranges.touches(route));
}

/** True where nobody but other meshes can object. */
function isBearable(protection: Protection, claim: Claim): boolean {
  const { own, allowed, ipv6 } = protection;
  const { route } = claim;
  if (allowed.length > 0 && !allowed.some((network) => contains(network, route))) return false;
  if (route.prefix === 0 || (route.family === 6 && !ipv6)) return false;
  return !own.some((ranges) => ranges.touches(route)) && firstUnbarred(protection, claim) !== undefined;
}

/** Of the meshes that want a route, the first that does not itself declare it for the target; one bars it for itself alone. */
function firstUnbarred({ declared, ranks }: Protection, { route, rank, ranks: all = [rank] }: Claim) {
  const bars = (one: string): boolean =>
    declared.some((ranges, index) => ranks[index] === one && ranges.touches(route));
  return all.find((one) => !bars(one));
}

/**
 * True for a claim of a share that may not be routed only because of another: a mesh declares the network for the target, or
 * a tunnel ends there. Where one of its own ends, or one that we do not plan, that is nothing to tell.
 */
export function isHeldBack(protection: Protection, claim: Claim, share: number): boolean {
  const silent = [protection.ends[share], protection.ends.at(-1)];
  return isBearable(protection, claim) && !silent.some((ranges) => ranges?.touches(claim.route));
}

interface Asked extends Protection {
  readonly extents: readonly Ranges[];
}

/** True where any network within an extent may be routed. False says nothing: then each has to be asked for. */
export function areFree({ own, declared, ends, allowed, ipv6, extents }: Asked): readonly boolean[] {
  const barred = [...own, ...declared, ...ends];
  return extents.map((extent) => {
    if (allowed.length > 0 || !(ipv6 || isIpv4(extent)) || isFromZero(extent)) return false;
    return !barred.some((ranges) => meet(extent, ranges));
  });
}

const isIpv4 = onceFor(({ spans }: Ranges) => spans.every(({ family }) => family === 4));
const isFromZero = onceFor(({ spans }: Ranges) => spans.some(({ first }) => first <= 0));

const routesOfNodes = onceFor((nodes: readonly NodeFacts[]) => ({
  own: rangesOf(nodes.flatMap(podCidrsOf), nodes.flatMap(addressesOf)),
  ipv6Only: nodes.length > 0 && nodes.every((node) => !hasIpv4(node)),
}));

const hasIpv4 = ({ internalIps }: NodeFacts): boolean => internalIps.some((text) => parseIp(text)?.family === 4);

const podCidrsOf = ({ podCidrs }: NodeFacts): Cidr[] => networksIn(podCidrs);

function addressesOf({ internalIps, externalIps, wireguardIp }: NodeFacts): IpAddress[] {
  const listed = [...internalIps, ...externalIps].flatMap((text) => parseIp(text) ?? []);
  return [...listed, parseHostInCidr(wireguardIp) ?? []].flat();
}

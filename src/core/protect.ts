import { type Cidr, contains, type IpAddress, networksIn, parseHostInCidr, parseIp } from "./cidr.ts";
import type { ConnectionId } from "./ids.ts";
import { declaredRanges } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import { onceFor } from "./once-per.ts";
import { meet, type Ranges, rangesOf } from "./ranges.ts";
import { leadsTo } from "./source.ts";
import type { World } from "./world.ts";

/** What no route that we write into a target may cover. */
export interface Protection {
  readonly own: readonly Ranges[];
  /** What a route has to lie in. Empty: anywhere. */
  readonly allowed: readonly Cidr[];
  /** Kilo cannot insert an IPv6 route where a node has an IPv4 internal address. */
  readonly ipv6: boolean;
}

/**
 * Kilo installs a route for everything a Peer allows, over whatever was there: one that covers the target's own pods, nodes
 * or Kilo subnet cuts them off, and one that covers an endpoint sends the tunnel into itself.
 */
export function protectionOf(world: World, target: ConnectionId, endpoints: readonly Ranges[]): Protection {
  const observed = world.clusters.get(target)?.nodes;
  const nodes = routesOfNodes(observed?.state === "known" ? observed.items : nobody);
  const entries = world.meshes.flatMap((connected) =>
    connected.mesh.entries.filter(({ name }) => leadsTo(connected, name) === target),
  );
  return {
    own: [...entries.map(declaredRanges), nodes.own, ...endpoints],
    allowed: world.allowedCidrs,
    ipv6: observed?.state !== "known" || nodes.ipv6Only,
  };
}

const nobody: readonly NodeFacts[] = [];

export function mayRoute({ own, allowed, ipv6 }: Protection, route: Cidr): boolean {
  if (allowed.length > 0 && !allowed.some((network) => contains(network, route))) return false;
  if (route.prefix === 0 || (route.family === 6 && !ipv6)) return false;
  return !own.some((ranges) => ranges.touches(route));
}

interface Asked extends Protection {
  readonly extents: readonly Ranges[];
}

/** True where any network within an extent may be routed. False says nothing: then each has to be asked for. */
export function areFree({ own, allowed, ipv6, extents }: Asked): readonly boolean[] {
  return extents.map((extent) => {
    if (allowed.length > 0 || !(ipv6 || isIpv4(extent)) || isFromZero(extent)) return false;
    return !own.some((ranges) => meet(extent, ranges));
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

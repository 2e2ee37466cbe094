import { type Cidr, uniqueRoutes } from "./cidr.ts";
import type { Endpoint } from "./endpoint.ts";
import type { NodeName, PublicKey } from "./ids.ts";
import { onceFor } from "./once-per.ts";
import type { SkipReason } from "./reasons.ts";
import { sameTexts } from "./texts.ts";

/** What a Node object says about the mesh, as text: a value that does not parse is a fact too. */
export interface NodeFacts {
  readonly name: NodeName;
  readonly uid: string;
  readonly podCidrs: readonly string[];
  readonly wireguardIp: string;
  readonly key: string;
  readonly clustermeshEndpoint: string;
  readonly forceEndpoint: string;
  /** Where Kilo itself tells the node's neighbours to reach it. */
  readonly kiloEndpoint: string;
  /** Kilo's mode: `full`, `cross` or `location`. */
  readonly granularity: string;
  /** What Kilo takes for the node's location. */
  readonly location: string;
  /** Kilo's own keepalive on the node, and the mark of the operator that wrote it, if one did. */
  readonly keepalive: string;
  readonly keepaliveMark: string;
  readonly externalIps: readonly string[];
  readonly internalIps: readonly string[];
}

/** A node as it is remembered: its facts, and what is no news to plans of other clusters. */
export interface NodeRecord {
  readonly facts: NodeFacts;
  /** Kilo's `discovered-endpoints`: from where the node has met others. */
  readonly discovered: string;
  /** Kilo runs there: it rewrites its annotations twice a minute, so that silence means something. */
  readonly beats: boolean;
}

/** A node that may be peered: everything parsed, nothing left to check. */
export interface MeshNode {
  readonly kind: "admitted";
  readonly name: NodeName;
  readonly publicKey: PublicKey;
  readonly endpoint: Endpoint;
  /** True when nothing says where the node can be reached from outside; it has to come to us first. */
  readonly roams: boolean;
  /** True when a person said where it is: nothing that was observed counts more. */
  readonly pinned: boolean;
  readonly pods: readonly Cidr[];
  readonly wireguard: Cidr;
  /** The node's own addresses that may be routed. */
  readonly hosts: readonly Cidr[];
  /** What lies behind it: the nodes of the location it leads. */
  readonly behind: readonly Cidr[];
}

/** Everything that leads to the node and to what lies behind it. */
export const ownRoutes = onceFor(({ pods, wireguard, hosts, behind }: MeshNode): readonly Cidr[] =>
  uniqueRoutes([...pods, wireguard, ...hosts, ...behind]),
);

export interface SkippedNode {
  readonly kind: "skipped";
  readonly name: NodeName;
  readonly reason: SkipReason;
  /** What exactly is wrong, where the reason alone does not say it. */
  readonly detail?: string;
}

/** The nodes of a cluster, judged; each list by name. */
export interface Judged {
  readonly admitted: readonly MeshNode[];
  readonly skipped: readonly SkippedNode[];
}

export function judgedOf(nodes: readonly (MeshNode | SkippedNode)[]): Judged {
  return {
    admitted: nodes.filter((node) => node.kind === "admitted"),
    skipped: nodes.filter((node) => node.kind === "skipped"),
  };
}

/** Kilo rewrites `last-seen` on every node twice a minute; equal facts are how that costs nothing. */
export function sameNodeRecord(a: NodeRecord, b: NodeRecord): boolean {
  return a.discovered === b.discovered && a.beats === b.beats && sameNodeFacts(a.facts, b.facts);
}

export function sameNodeFacts(a: NodeFacts, b: NodeFacts): boolean {
  return (
    a.uid === b.uid &&
    a.wireguardIp === b.wireguardIp &&
    a.key === b.key &&
    a.clustermeshEndpoint === b.clustermeshEndpoint &&
    a.forceEndpoint === b.forceEndpoint &&
    a.kiloEndpoint === b.kiloEndpoint &&
    a.granularity === b.granularity &&
    a.location === b.location &&
    a.keepalive === b.keepalive &&
    a.keepaliveMark === b.keepaliveMark &&
    sameTexts(a.podCidrs, b.podCidrs) &&
    sameTexts(a.externalIps, b.externalIps) &&
    sameTexts(a.internalIps, b.internalIps)
  );
}

/** True when the cluster of the node has to leave room for the same as before; absent is a node that is not there. */
export function sameGround(a: NodeFacts | undefined, b: NodeFacts | undefined): boolean {
  if (!a || !b) return a === b;
  return (
    a.uid === b.uid &&
    a.wireguardIp === b.wireguardIp &&
    sameTexts(a.podCidrs, b.podCidrs) &&
    sameTexts(a.externalIps, b.externalIps) &&
    sameTexts(a.internalIps, b.internalIps)
  );
}

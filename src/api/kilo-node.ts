import { nodeName } from "../core/ids.ts";
import type { NodeRecord } from "../core/node.ts";
import { oneCopy } from "../core/once-per.ts";
import type { KubeObject } from "../kube/object.ts";
import { type Resource, nodes as untyped } from "../kube/resource.ts";
import { annotations, nodeAnnotations, regionLabel } from "./names.ts";

export interface NodeObject extends KubeObject {
  readonly spec?: { readonly podCIDR?: string; readonly podCIDRs?: readonly string[] };
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

export const nodes: Resource<NodeObject> = untyped;

/** The few facts the mesh needs; the big object is dropped here. */
export function readNode(node: NodeObject): NodeRecord {
  const { labels, annotations: said = {} } = node.metadata;
  const say = (name: string): string => said[name] ?? "";
  const facts = {
    name: nodeName(oneCopy(node.metadata.name)),
    uid: node.metadata.uid ?? "",
    podCidrs: (node.spec?.podCIDRs ?? []).map(oneCopy),
    wireguardIp: say(nodeAnnotations.wireguardIp),
    key: oneCopy(say(nodeAnnotations.key)),
    clustermeshEndpoint: oneCopy(say(nodeAnnotations.clustermeshEndpoint)),
    forceEndpoint: oneCopy(say(nodeAnnotations.forceEndpoint)),
    kiloEndpoint: oneCopy(say(nodeAnnotations.kiloEndpoint)),
    granularity: oneCopy(say(nodeAnnotations.granularity)),
    location: oneCopy(said[nodeAnnotations.location] ?? labels?.[regionLabel] ?? ""),
    keepalive: oneCopy(say(nodeAnnotations.keepalive)),
    keepaliveMark: oneCopy(say(annotations.keepaliveMark)),
    externalIps: addressesOf(node, "ExternalIP"),
    internalIps: addressesOf(node, "InternalIP"),
  };
  return { facts, discovered: say(nodeAnnotations.discovered), beats: say(nodeAnnotations.lastSeen) !== "" };
}

const none: readonly string[] = [];

/** Most nodes have no external address, and share that they have none. */
function addressesOf(node: NodeObject, type: string): readonly string[] {
  const found = (node.status?.addresses ?? []).filter((entry) => entry.type === type).map(({ address }) => address);
  return found.length > 0 ? found : none;
}

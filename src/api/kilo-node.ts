import { nodeName } from "../core/ids.ts";
import type { NodeFacts } from "../core/node.ts";
import type { KubeObject } from "../kube/object.ts";
import { type Resource, nodes as untyped } from "../kube/resource.ts";
import { nodeAnnotations, regionLabel } from "./names.ts";

export interface NodeObject extends KubeObject {
  readonly spec?: { readonly podCIDR?: string; readonly podCIDRs?: readonly string[] };
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

export const nodes: Resource<NodeObject> = untyped;

/** The few facts the mesh needs; the big object is dropped here. */
export function readNode(node: NodeObject): NodeFacts {
  const said = node.metadata.annotations ?? {};
  return {
    name: nodeName(node.metadata.name),
    uid: node.metadata.uid ?? "",
    podCidrs: node.spec?.podCIDRs ?? [],
    wireguardIp: said[nodeAnnotations.wireguardIp] ?? "",
    key: said[nodeAnnotations.key] ?? "",
    clustermeshEndpoint: said[nodeAnnotations.clustermeshEndpoint] ?? "",
    forceEndpoint: said[nodeAnnotations.forceEndpoint] ?? "",
    kiloEndpoint: said[nodeAnnotations.kiloEndpoint] ?? "",
    discovered: said[nodeAnnotations.discovered] ?? "",
    granularity: said[nodeAnnotations.granularity] ?? "",
    location: said[nodeAnnotations.location] ?? node.metadata.labels?.[regionLabel] ?? "",
    externalIps: addressesOf(node, "ExternalIP"),
    internalIps: addressesOf(node, "InternalIP"),
  };
}

function addressesOf(node: NodeObject, type: string): string[] {
  return (node.status?.addresses ?? []).filter((entry) => entry.type === type).map(({ address }) => address);
}

import { nodeName } from "../core/ids.ts";
import type { NodeRecord } from "../core/node.ts";
import { oneCopy } from "../core/once-per.ts";
import type { KubeObject } from "../kube/object.ts";
import { type Resource, nodes as untyped } from "../kube/resource.ts";
import { annotations, nodeAnnotations, regionLabel } from "./names.ts";
import { fieldsOf, itemsOf, textOf } from "./received.ts";

export interface NodeObject extends KubeObject {
  readonly spec?: { readonly podCIDR?: string; readonly podCIDRs?: readonly string[] };
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

export const nodes: Resource<NodeObject> = untyped;

/** No real node has so many pod CIDRs, or addresses of a kind; the rest is not read, as each may become a route elsewhere. */
const most = 100;

/** The few facts the mesh needs; the big object is dropped here. */
export function readNode({ metadata, spec, status }: NodeObject): NodeRecord {
  const said = fieldsOf(metadata.annotations);
  const say = (name: string): string => textOf(said[name]);
  const addresses = itemsOf(fieldsOf(status).addresses);
  const facts = {
    name: nodeName(oneCopy(textOf(metadata.name))),
    uid: textOf(metadata.uid),
    podCidrs: firsts(itemsOf(fieldsOf(spec).podCIDRs)).map((text) => oneCopy(textOf(text))),
    wireguardIp: say(nodeAnnotations.wireguardIp),
    key: oneCopy(say(nodeAnnotations.key)),
    clustermeshEndpoint: oneCopy(say(nodeAnnotations.clustermeshEndpoint)),
    forceEndpoint: oneCopy(say(nodeAnnotations.forceEndpoint)),
    kiloEndpoint: oneCopy(say(nodeAnnotations.kiloEndpoint)),
    granularity: oneCopy(say(nodeAnnotations.granularity)),
    location: oneCopy(textOf(said[nodeAnnotations.location] ?? fieldsOf(metadata.labels)[regionLabel])),
    keepalive: oneCopy(say(nodeAnnotations.keepalive)),
    keepaliveMark: oneCopy(say(annotations.keepaliveMark)),
    externalIps: addressesOf(addresses, "ExternalIP"),
    internalIps: addressesOf(addresses, "InternalIP"),
  };
  return { facts, discovered: say(nodeAnnotations.discovered), beats: say(nodeAnnotations.lastSeen) !== "" };
}

const none: readonly string[] = [];

/** Most nodes have no external address, and share that they have none. */
function addressesOf(addresses: readonly unknown[], type: string): readonly string[] {
  const found = addresses.filter((entry) => fieldsOf(entry).type === type && textOf(fieldsOf(entry).address) !== "");
  return found.length > 0 ? firsts(found).map((entry) => textOf(fieldsOf(entry).address)) : none;
}

function firsts<T>(list: readonly T[]): readonly T[] {
  return list.length > most ? list.slice(0, most) : list;
}

import { randomBytes } from "node:crypto";
import type { NodeConfig } from "./config/config.ts";
import { deriveSeed, type EndpointId, endpointIdDeriver, endpointIdOf, seedBytes } from "./identity.ts";

/** Who a node is, and how it knows who the others are. */
export interface NodeIdentity {
  readonly id: EndpointId;
  /** Secret. */
  readonly seed: Uint8Array;
  readonly podName?: string;
  /** Absent without a shared key. */
  readonly derive?: (podName: string) => EndpointId;
}

/** In a cluster others derive our id from the pod's name; elsewhere from the node's. Without a key it is a new one. */
export function identityOf({ sharedKey, nodeId, discovery }: NodeConfig): NodeIdentity {
  const podName = discovery.mode === "kubernetes" ? discovery.podName : undefined;
  const pod = podName === undefined ? {} : { podName };
  if (sharedKey.length === 0) {
    const seed = new Uint8Array(randomBytes(seedBytes));
    return { id: endpointIdOf(seed), seed, ...pod };
  }
  const seed = deriveSeed(sharedKey, podName ?? nodeId);
  return { id: endpointIdOf(seed), seed, ...pod, derive: endpointIdDeriver(sharedKey) };
}

import type { EndpointSlice, SliceEndpoint } from "../../src/mesh-node/discovery/slice-facts.ts";

export interface SliceOverrides extends Omit<Partial<EndpointSlice>, "metadata"> {
  readonly name?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
}

export const quicPort = { name: "iroh-quic", port: 4433, protocol: "UDP" } as const;
export const grpcPort = { name: "grpc", port: 50_051, protocol: "TCP" } as const;

/** The slice of a headless Service over the pods peat-0 and peat-1, as a controller writes it. */
export function aSlice({ name = "peat-abc12", annotations, labels, ...rest }: SliceOverrides = {}): EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, namespace: "mesh", labels: { app: "peat-node", ...labels }, ...(annotations && { annotations }) },
    addressType: "IPv4",
    endpoints: [anEndpoint("peat-0", "10.44.0.10"), anEndpoint("peat-1", "10.44.0.11")],
    ports: [grpcPort, quicPort],
    ...rest,
  };
}

/** A ready pod. */
export function anEndpoint(pod: string, address: string, more: Partial<SliceEndpoint> = {}): SliceEndpoint {
  return {
    addresses: [address],
    conditions: { ready: true, terminating: false },
    targetRef: { kind: "Pod", namespace: "mesh", name: pod, uid: `uid-of-${pod}` },
    ...more,
  };
}

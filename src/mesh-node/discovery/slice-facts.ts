import type { KubeObject } from "../../kube/object.ts";
import type { Resource } from "../../kube/resource.ts";
import { canonicalIp } from "./address.ts";

/** An EndpointSlice on the wire, as far as we look at it. Anybody may have written it: nothing in it is certain. */
export interface EndpointSlice extends KubeObject {
  readonly addressType?: string;
  readonly endpoints?: readonly SliceEndpoint[] | null;
  readonly ports?: readonly SlicePort[] | null;
}

export interface SliceEndpoint {
  readonly addresses?: readonly string[] | null;
  readonly conditions?: { readonly ready?: boolean | null; readonly terminating?: boolean | null } | null;
  readonly targetRef?: {
    readonly kind?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
  } | null;
}

export interface SlicePort {
  readonly name?: string | null;
  readonly port?: number | null;
  readonly protocol?: string | null;
}

export const endpointSlices: Resource<EndpointSlice> = {
  group: "discovery.k8s.io",
  version: "v1",
  plural: "endpointslices",
  kind: "EndpointSlice",
  namespaced: true,
};

/** What is kept of a slice. */
export interface SliceFacts {
  readonly name: string;
  readonly endpoints: readonly EndpointFacts[];
  readonly ports: readonly PortFacts[];
  /** Those with our prefix, without it. */
  readonly annotations: Readonly<Record<string, string>>;
}

export interface EndpointFacts {
  /** Absent when it has neither a target nor an address. */
  readonly name?: string;
  readonly isPod: boolean;
  readonly podNamespace?: string;
  readonly uid?: string;
  /** In canonical spelling; what is no IP address is left out. */
  readonly ips: readonly string[];
  readonly ready: boolean;
  readonly terminating: boolean;
}

export interface PortFacts {
  readonly name: string;
  readonly port: number;
  readonly isUdp: boolean;
}

export function readSlice(slice: EndpointSlice, annotationPrefix: string): SliceFacts {
  return {
    name: slice.metadata.name,
    endpoints: (slice.endpoints ?? []).map(readEndpoint),
    ports: (slice.ports ?? []).flatMap(readPort),
    annotations: withoutPrefix(slice.metadata.annotations ?? {}, annotationPrefix),
  };
}

export function sameSlice(before: SliceFacts, after: SliceFacts): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

function readEndpoint({ addresses, conditions, targetRef }: SliceEndpoint): EndpointFacts {
  const name = targetRef?.name || addresses?.[0];
  return {
    ...(name && { name }),
    isPod: Boolean(targetRef?.name) && (targetRef?.kind ?? "Pod") === "Pod",
    ...(targetRef?.namespace && { podNamespace: targetRef.namespace }),
    ...(targetRef?.uid && { uid: targetRef.uid }),
    ips: (addresses ?? []).flatMap((address) => canonicalIp(address) ?? []),
    // Absent means ready, by the API's own words.
    ready: conditions?.ready !== false,
    terminating: conditions?.terminating === true,
  };
}

function readPort({ name, port, protocol }: SlicePort): readonly PortFacts[] {
  if (typeof port !== "number" || port < 1 || port > 65_535) return [];
  return [{ name: name ?? "", port, isUdp: protocol === "UDP" }];
}

function withoutPrefix(annotations: Readonly<Record<string, string>>, prefix: string) {
  const ours = Object.entries(annotations).filter(([key]) => key.startsWith(prefix) && key.length > prefix.length);
  return Object.fromEntries(ours.map(([key, value]) => [key.slice(prefix.length), value]).sort());
}

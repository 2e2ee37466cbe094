import { type Endpoint, hostText } from "../core/endpoint.ts";
import { clusterName, type MeshId, nodeName, type PeerName } from "../core/ids.ts";
import { keptMark } from "../core/move.ts";
import { type HeldPeer, type Peer, samePeerSpec } from "../core/peer.ts";
import { roamingKeepaliveSeconds } from "../core/reach.ts";
import type { KubeObject } from "../kube/object.ts";
import { apiVersionOf, type Resource } from "../kube/resource.ts";
import { annotations, group, labels, version } from "./names.ts";

/** Kilo's Peer on the wire. */
export interface PeerObject extends KubeObject {
  readonly spec: {
    readonly allowedIPs: readonly string[];
    readonly publicKey: string;
    readonly endpoint?: {
      readonly dnsOrIP: { readonly ip?: string; readonly dns?: string };
      readonly port: number;
    };
    readonly persistentKeepalive?: number;
    readonly presharedKey?: string;
  };
}

export const peers: Resource<PeerObject> = { group, version, plural: "peers", kind: "Peer", namespaced: false };

/** A Peer of a target, with the object it came from: an update carries over what we do not plan. */
export interface PeerRecord {
  readonly held: HeldPeer;
  readonly object: PeerObject;
}

export function readPeer(object: PeerObject): PeerRecord {
  const { name, uid = "", resourceVersion = "" } = object.metadata;
  const held: HeldPeer = {
    name: name as PeerName,
    uid,
    resourceVersion,
    ...readMarks(object),
    publicKey: object.spec.publicKey,
    endpoint: readEndpoint(object.spec.endpoint),
    allowedIps: object.spec.allowedIPs,
    keepaliveSeconds: object.spec.persistentKeepalive ?? 0,
  };
  return { held, object: withoutManagedFields(object) };
}

/** What labels and annotations say of it. */
function readMarks({ metadata }: PeerObject) {
  const label = (name: string): string => metadata.labels?.[name] ?? "";
  const note = (name: string): string => metadata.annotations?.[name] ?? "";
  return {
    instance: label(labels.instance),
    mesh: label(labels.mesh),
    source: clusterName(label(labels.source)),
    node: nodeName(note(annotations.node)),
    owners: note(annotations.owners)
      .split(",")
      .filter((text): text is MeshId => text !== ""),
    offered: note(annotations.adopt) === "true",
    touchPending: note(annotations.touchPending) !== "",
    declared: note(annotations.declared),
    move: note(annotations.move),
  };
}

/** Any change of a Peer counts: an update must be made from the newest object. */
export function samePeerRecord(a: PeerRecord, b: PeerRecord): boolean {
  return a.object.metadata.resourceVersion === b.object.metadata.resourceVersion;
}

/** The object to write. What `before` holds and we do not plan is carried over. */
export function renderPeer(peer: Peer, instance: string, before?: PeerObject): PeerObject {
  const { touchPending, declared, move, adopt } = annotations;
  const carried = before?.metadata.annotations ?? {};
  const { [touchPending]: _, [declared]: __, [move]: ___, [adopt]: ____, ...notes } = carried;
  return {
    apiVersion: apiVersionOf(peers),
    kind: peers.kind,
    metadata: {
      ...before?.metadata,
      name: peer.name,
      labels: {
        ...before?.metadata.labels,
        [labels.mesh]: peer.mesh,
        [labels.source]: peer.source,
        [labels.instance]: instance,
      },
      annotations: {
        ...notes,
        ...(peer.touchPending && { [touchPending]: "true" }),
        ...(peer.declared && { [declared]: peer.declared }),
        ...(peer.move && { [move]: peer.move }),
        [annotations.owners]: peer.owners.join(","),
        [annotations.node]: peer.node,
      },
    },
    spec: before && samePeerSpec(peer, readPeer(before).held) ? before.spec : renderSpec(peer, before),
  };
}

/** The object of a Peer that is only kept, with no more than these routes. */
export function renderKept(object: PeerObject, allowedIPs: readonly string[]): PeerObject {
  const spec = { ...object.spec, allowedIPs };
  const mark = keptMark(readPeer(object).held.move);
  if (!mark) return { ...object, spec };
  const notes = { ...object.metadata.annotations, [annotations.move]: mark };
  const persistentKeepalive = roamingKeepaliveSeconds;
  return { ...object, metadata: { ...object.metadata, annotations: notes }, spec: { ...spec, persistentKeepalive } };
}

function renderSpec(peer: Peer, before?: PeerObject): PeerObject["spec"] {
  const { endpoint: _, persistentKeepalive: __, ...carried } = before?.spec ?? {};
  return {
    ...carried,
    publicKey: peer.publicKey,
    allowedIPs: peer.routes.map(({ text }) => text),
    endpoint: renderEndpoint(peer.endpoint),
    ...(peer.keepaliveSeconds > 0 && { persistentKeepalive: peer.keepaliveSeconds }),
  };
}

function readEndpoint(endpoint: PeerObject["spec"]["endpoint"]): Endpoint | undefined {
  if (!endpoint) return undefined;
  const { dns, ip } = endpoint.dnsOrIP;
  if (dns) return { host: { dns }, port: endpoint.port };
  return ip ? { host: { ip }, port: endpoint.port } : undefined;
}

function renderEndpoint(endpoint: Endpoint): NonNullable<PeerObject["spec"]["endpoint"]> {
  const text = hostText(endpoint);
  return { dnsOrIP: "ip" in endpoint.host ? { ip: text } : { dns: text }, port: endpoint.port };
}

function withoutManagedFields(object: PeerObject): PeerObject {
  const { managedFields: _, ...metadata } = object.metadata as PeerObject["metadata"] & { managedFields?: unknown };
  return { ...object, metadata };
}

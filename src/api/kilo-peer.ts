import { type Endpoint, hostText } from "../core/endpoint.ts";
import { clusterName, type MeshId, nodeName, type PeerName } from "../core/ids.ts";
import { keptMark } from "../core/move.ts";
import { onceForText, oneCopy } from "../core/once-per.ts";
import { type HeldPeer, type Peer, samePeerSpec } from "../core/peer.ts";
import { roamingKeepaliveSeconds } from "../core/sight.ts";
import type { KubeObject } from "../kube/object.ts";
import { apiVersionOf, type Resource } from "../kube/resource.ts";
import { annotations, group, labels, version } from "./names.ts";
import { fieldsOf, itemsOf, textOf } from "./received.ts";
import { sameJson } from "./same-json.ts";

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

const apiVersion = apiVersionOf(peers);

/** The objects that say more than we have read of them: thousands of Peers stay in memory, and nearly all say no more. */
const unread = new WeakMap<HeldPeer, PeerObject>();

export function readPeer(object: PeerObject): HeldPeer {
  const held = readHeld(object);
  if (!saysNoMore(object, renderHeld(held))) unread.set(held, withoutServerFields(object));
  return held;
}

/** What an update of a Peer that was read is made from: what we do not plan is carried over. */
export function objectOf(held: HeldPeer): PeerObject {
  return unread.get(held) ?? renderHeld(held);
}

/** Any change of a Peer counts: an update must be made from the newest object. */
export function sameVersion(a: HeldPeer, b: HeldPeer): boolean {
  return a.resourceVersion === b.resourceVersion;
}

function readHeld({ metadata, spec }: PeerObject): HeldPeer {
  const marks = fieldsOf(metadata.labels);
  const notes = fieldsOf(metadata.annotations);
  const said = fieldsOf(spec);
  const label = (name: string): string => oneCopy(textOf(marks[name]));
  const note = (name: string): string => textOf(notes[name]);
  const { persistentKeepalive: seconds } = said;
  return {
    name: oneCopy(textOf(metadata.name) as PeerName),
    uid: textOf(metadata.uid),
    resourceVersion: textOf(metadata.resourceVersion),
    instance: label(labels.instance),
    mesh: label(labels.mesh),
    source: clusterName(label(labels.source)),
    node: nodeName(oneCopy(note(annotations.node))),
    owners: ownersIn(note(annotations.owners)),
    ...(textOf(metadata.deletionTimestamp) && { isTerminating: true }),
    offered: note(annotations.adopt) === "true",
    touchPending: note(annotations.touchPending) !== "",
    declared: note(annotations.declared),
    move: note(annotations.move),
    publicKey: oneCopy(textOf(said.publicKey)),
    endpoint: readEndpoint(said.endpoint),
    allowedIps: itemsOf(said.allowedIPs).map((text) => oneCopy(textOf(text))),
    keepaliveSeconds: typeof seconds === "number" ? seconds : 0,
  };
}

const ownersIn = onceForText((text): readonly MeshId[] =>
  text.split(",").filter((owner): owner is MeshId => owner !== ""),
);

/** The server has its own word on them, whatever we write. */
const serverFields = ["managedFields", "creationTimestamp", "generation"];

function withoutServerFields(object: PeerObject): PeerObject {
  const metadata = Object.entries(object.metadata).filter(([field]) => !serverFields.includes(field));
  return { ...object, metadata: Object.fromEntries(metadata) as PeerObject["metadata"] };
}

/** True when what we have read of an object is all that it holds. */
function saysNoMore(object: PeerObject, rendered: PeerObject): boolean {
  return sameJson(object, rendered, ["metadata"]) && sameJson(object.metadata, rendered.metadata, serverFields);
}

/** The object of a Peer that holds nothing but what we write. */
function renderHeld(held: HeldPeer): PeerObject {
  const { name, uid, resourceVersion, instance, publicKey, allowedIps, endpoint, keepaliveSeconds } = held;
  return {
    apiVersion,
    kind: peers.kind,
    metadata: { name, uid, resourceVersion, labels: labelsOf(held, instance), annotations: notesOf(held) },
    spec: {
      publicKey,
      allowedIPs: allowedIps,
      ...(endpoint && { endpoint: renderEndpoint(endpoint) }),
      ...(keepaliveSeconds > 0 && { persistentKeepalive: keepaliveSeconds }),
    },
  };
}

type Marks = Pick<Peer, "mesh" | "source" | "node" | "owners" | "touchPending" | "declared" | "move">;

function labelsOf({ mesh, source }: Marks, instance: string): Readonly<Record<string, string>> {
  return { [labels.mesh]: mesh, [labels.source]: source, [labels.instance]: instance };
}

function notesOf({ touchPending, declared, move, owners, node }: Marks): Readonly<Record<string, string>> {
  return {
    ...(touchPending && { [annotations.touchPending]: "true" }),
    ...(declared && { [annotations.declared]: declared }),
    ...(move && { [annotations.move]: move }),
    [annotations.owners]: owners.join(","),
    [annotations.node]: node,
  };
}

/** The object to write. What `before` holds and we do not plan is carried over. */
export function renderPeer(peer: Peer, instance: string, before?: PeerObject): PeerObject {
  return {
    apiVersion,
    kind: peers.kind,
    metadata: {
      ...before?.metadata,
      name: peer.name,
      labels: { ...before?.metadata.labels, ...labelsOf(peer, instance) },
      annotations: { ...(before && carriedNotes(before)), ...notesOf(peer) },
    },
    spec: before && samePeerSpec(peer, readHeld(before)) ? before.spec : renderSpec(peer, before),
  };
}

function carriedNotes({ metadata }: PeerObject): Readonly<Record<string, string>> {
  const { touchPending, declared, move, adopt } = annotations;
  const { [touchPending]: _, [declared]: __, [move]: ___, [adopt]: ____, ...notes } = metadata.annotations ?? {};
  return notes;
}

/** The object of a Peer that is only kept, with no more than these routes. */
export function renderKept(object: PeerObject, allowedIPs: readonly string[]): PeerObject {
  const spec = { ...object.spec, allowedIPs };
  const mark = keptMark(readHeld(object).move);
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

function readEndpoint(endpoint: unknown): Endpoint | undefined {
  const { dnsOrIP, port } = fieldsOf(endpoint);
  const { dns, ip } = fieldsOf(dnsOrIP);
  if (typeof port !== "number") return undefined;
  if (textOf(dns)) return { host: { dns: textOf(dns) }, port };
  return textOf(ip) ? { host: { ip: oneCopy(textOf(ip)) }, port } : undefined;
}

function renderEndpoint(endpoint: Endpoint): NonNullable<PeerObject["spec"]["endpoint"]> {
  const text = hostText(endpoint);
  return { dnsOrIP: "ip" in endpoint.host ? { ip: text } : { dns: text }, port: endpoint.port };
}

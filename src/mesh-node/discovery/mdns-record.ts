import { createHash } from "node:crypto";
import { BlockList, isIPv6 } from "node:net";
import { type EndpointId, parseEndpointId } from "../identity.ts";
import type { SkipReason } from "../reasons.ts";
import { addressText, canonicalIp } from "./address.ts";
import type { Member } from "./member.ts";

/** `_peat._udp`, as DNS-SD libraries want it. */
export const mdnsService = { type: "peat", protocol: "udp" } as const;

/** What an instance on the LAN says of itself. Anybody there can say anything. */
export interface InstanceRecord {
  readonly instance: string;
  /** Of the SRV record. */
  readonly port: number;
  readonly addresses: readonly string[];
  readonly txt: Readonly<Record<string, string>>;
  /** Who sent it. */
  readonly sender?: string;
}

/** What we say of ourselves; the addresses are those of the interfaces. */
export type Announcement = Pick<InstanceRecord, "instance" | "port" | "txt">;

export interface MdnsSelf {
  readonly endpointId: EndpointId;
  readonly nodeId: string;
  readonly formationId: string;
  /** The UDP port for links. */
  readonly port: number;
}

export function announcementOf({ endpointId, nodeId, formationId, port }: MdnsSelf): Announcement {
  const txt = { node_id: endpointId, port: String(port), formation_id: formationId };
  return { instance: instanceName(nodeId), port, txt };
}

export type RecordReading = { readonly member: Member } | { readonly reason: SkipReason };

/** The member behind a record, or why it is none for us. */
export function readRecord(record: InstanceRecord, self: MdnsSelf): RecordReading {
  const { node_id = "", formation_id, port, relay_url, ...metadata } = record.txt;
  const endpointId = parseEndpointId(node_id);
  if (!endpointId) return { reason: "IdentityInvalid" };
  if (endpointId === self.endpointId) return { reason: "IsSelf" };
  if (formation_id !== self.formationId) return { reason: "OtherFormation" };
  const addresses = addressesOf(record, portOf(port) ?? portOf(String(record.port)));
  if (addresses.length === 0) return { reason: "NoAddress" };
  return {
    member: {
      origin: "mdns",
      name: record.instance,
      isPod: false,
      addresses,
      metadata: Object.fromEntries(Object.entries(metadata).sort()),
      ...(relay_url && { relayUrl: relay_url }),
      endpointId,
      dialable: true,
    },
  };
}

const longestLabelBytes = 63;
const digestLength = 8;

/** One DNS label. A node id that does not fit is cut and made unique by a digest. */
function instanceName(nodeId: string): string {
  const plain = `peat-${nodeId.replaceAll(/[.\p{Cc}]/gu, "-")}`;
  if (Buffer.byteLength(plain) <= longestLabelBytes) return plain;
  const digest = createHash("sha256").update(nodeId).digest("hex").slice(0, digestLength);
  const kept = Buffer.from(plain).subarray(0, longestLabelBytes - digestLength - 1);
  return `${kept.toString("utf8").replace(/\uFFFD+$/u, "")}-${digest}`;
}

/** The sender's own address counts only when the record names none that could work. */
function addressesOf({ addresses, sender = "" }: InstanceRecord, port: number | undefined): readonly string[] {
  if (port === undefined) return [];
  const named = addresses.flatMap((address) => canonicalIp(address) ?? []).filter((ip) => !isUseless(ip));
  const ips = named.length > 0 ? named : [canonicalIp(sender) ?? []].flat();
  return [...new Set(ips.map((ip) => addressText(ip, port)))].sort().slice(0, mostAddresses);
}

const mostAddresses = 32;

function portOf(text: string | undefined): number | undefined {
  const port = /^\d{1,5}$/.test(text ?? "") ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** Leads back to ourselves, to nobody, or only with a zone that the record cannot carry. */
function isUseless(ip: string): boolean {
  return uselessIps.check(ip, isIPv6(ip) ? "ipv6" : "ipv4");
}

const uselessIps = listUselessIps();

function listUselessIps(): BlockList {
  const list = new BlockList();
  list.addSubnet("127.0.0.0", 8, "ipv4");
  list.addSubnet("0.0.0.0", 8, "ipv4");
  list.addSubnet("224.0.0.0", 3, "ipv4");
  list.addSubnet("fe80::", 10, "ipv6");
  list.addSubnet("ff00::", 8, "ipv6");
  list.addSubnet("::", 127, "ipv6");
  return list;
}

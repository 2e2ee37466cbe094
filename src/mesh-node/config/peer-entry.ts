import { type EndpointId, parseEndpointId } from "../identity.ts";
import { type HostPort, parseHostPort } from "./host-port.ts";

/** A peer that the configuration names, with every address it was given. */
export interface ConfiguredPeer {
  readonly id: EndpointId;
  readonly addresses: readonly HostPort[];
}

/** An entry that is no peer, as it was given, and why. */
export interface UnreadablePeer {
  readonly entry: string;
  readonly problem: string;
}

export interface PeerEntries {
  readonly peers: readonly ConfiguredPeer[];
  readonly unreadable: readonly UnreadablePeer[];
}

/** Entries `endpoint_id@host:port`, each text one or several between commas. Those of one id are one peer. */
export function parsePeers(texts: readonly string[]): PeerEntries {
  const peers = new Map<EndpointId, HostPort[]>();
  const unreadable: UnreadablePeer[] = [];
  for (const entry of texts.flatMap(entriesIn)) {
    const reading = readEntry(entry);
    if ("problem" in reading) unreadable.push({ entry, problem: reading.problem });
    else peers.set(reading.id, [...(peers.get(reading.id) ?? []), reading.address]);
  }
  return { peers: [...peers].map(([id, addresses]) => ({ id, addresses })), unreadable };
}

function entriesIn(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

type EntryReading = { readonly id: EndpointId; readonly address: HostPort } | { readonly problem: string };

function readEntry(entry: string): EntryReading {
  const at = entry.indexOf("@");
  if (at < 0) return { problem: "no @: give endpoint_id@host:port" };
  const id = parseEndpointId(entry.slice(0, at));
  if (id === undefined) return { problem: "before the @ is no endpoint id, which has 64 hexadecimal digits" };
  const address = parseHostPort(entry.slice(at + 1));
  return address ? { id, address } : { problem: "after the @ is no host:port with a port from 1 to 65535" };
}

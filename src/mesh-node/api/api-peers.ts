import { Code, ConnectError } from "@connectrpc/connect";
import { type HostPort, parseHostPort } from "../config/host-port.ts";
import { type ConnectPeerRequest, PeerLinkState, PeerOrigin } from "../gen/peat/sidecar/v1/sidecar_pb.ts";
import { type EndpointId, parseEndpointId } from "../identity.ts";
import type { SeenPeer, SidecarPorts } from "./api-ports.ts";

const mostAddresses = 32;

export async function connectPeer(ports: SidecarPorts, request: ConnectPeerRequest) {
  const id = readId(request.endpointId);
  if (id === ports.self.endpointId) throw invalid("endpoint_id is this node's own");
  const outcome = await ports.connect(id, readAddresses(request));
  if (outcome !== "linked") throw new ConnectError(`not linked: ${outcome.reason}`, Code.Unavailable);
  return {};
}

export function disconnectPeer(ports: SidecarPorts, { endpointId }: { readonly endpointId: string }) {
  ports.disconnect(readId(endpointId));
  return {};
}

export function listPeers({ links }: SidecarPorts) {
  const peers = links().map(({ peer, address }) => ({
    endpointId: peer,
    addresses: address === undefined ? [] : [address],
    connected: true,
  }));
  return { peers: peers.sort((one, other) => (one.endpointId < other.endpointId ? -1 : 1)) };
}

export function listDiscoveredPeers({ sight }: SidecarPorts) {
  const { mode, discovery, peers, skipped } = sight();
  return {
    peers: peers.map(discoveredPeer),
    skipped: skipped.map(({ name, reason }) => ({ name, reason })),
    discoveryMode: mode,
    discoveryKnown: discovery.known,
    ...(discovery.problem !== undefined && { discoveryProblem: discovery.problem }),
  };
}

const origins = {
  static: PeerOrigin.STATIC,
  kubernetes: PeerOrigin.KUBERNETES,
  mdns: PeerOrigin.MDNS,
  connected: PeerOrigin.CONNECTED,
} as const;

const states = {
  linked: PeerLinkState.LINKED,
  dialing: PeerLinkState.DIALING,
  waiting: PeerLinkState.WAITING,
  disconnected: PeerLinkState.DISCONNECTED,
} as const;

function discoveredPeer({ id, addresses, name, origin, state, reason }: SeenPeer) {
  return {
    endpointId: id,
    addresses: [...addresses],
    ...(name !== undefined && { name }),
    origin: origins[origin],
    state: states[state],
    ...(reason !== undefined && { reason }),
  };
}

function readId(text: string): EndpointId {
  const id = parseEndpointId(text);
  if (id === undefined) throw invalid("endpoint_id must have 64 hexadecimal digits");
  return id;
}

function readAddresses({ addresses, relayUrl }: ConnectPeerRequest): HostPort[] {
  if (addresses.length === 0)
    throw invalid(
      relayUrl ? "relays are not supported: give addresses" : "give at least one of addresses, as host:port",
    );
  if (addresses.length > mostAddresses) throw invalid(`give at most ${mostAddresses} addresses`);
  return addresses.map((text) => {
    const address = parseHostPort(text);
    if (!address) throw invalid(`addresses has ${JSON.stringify(text)}, which is no host:port`);
    return address;
  });
}

function invalid(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}

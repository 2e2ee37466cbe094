import type { Peer } from "../discovery/roster.ts";
import type { EndpointId } from "../identity.ts";

/** Who is wanted: the roster and those who were connected by hand, without those who were disconnected by hand. */
export class Wanted {
  #roster: ReadonlyMap<EndpointId, Peer> = new Map();
  readonly #connected = new Map<EndpointId, Peer>();
  readonly #disconnected = new Set<EndpointId>();

  setRoster(peers: readonly Peer[]): void {
    this.#roster = new Map(peers.map((peer) => [peer.id, peer]));
  }

  connect(peer: Peer): void {
    this.#disconnected.delete(peer.id);
    this.#connected.set(peer.id, peer);
  }

  disconnect(id: EndpointId): void {
    this.#connected.delete(id);
    this.#disconnected.add(id);
  }

  isRefused(id: EndpointId): boolean {
    return this.#disconnected.has(id);
  }

  all(): readonly Peer[] {
    const ids = new Set([...this.#roster.keys(), ...this.#connected.keys()]).difference(this.#disconnected);
    return [...ids].flatMap((id) => merge(this.#roster.get(id), this.#connected.get(id)) ?? []);
  }
}

function merge(listed: Peer | undefined, connected: Peer | undefined): Peer | undefined {
  if (!listed || !connected) return listed ?? connected;
  const addresses = [...new Set([...listed.addresses, ...connected.addresses])].sort();
  return { ...listed, addresses, origin: "static", dialable: true };
}

import type { ConnectionId } from "../core/ids.ts";
import type { ConnectionConfig } from "../kube/connection-config.ts";

/** A connection and what it is opened with. */
export interface Lead {
  readonly id: ConnectionId;
  readonly config: ConnectionConfig;
}

/** A cluster that holds nothing of ours, or the connection that reaches it. */
export type Parting = ConnectionId | "empty";

/** What a rotation has to know of the connections that are open. */
export interface OpenConnections {
  /** False once it was closed. */
  isOpen(id: ConnectionId): boolean;
  /** Nodes and Peers are known. */
  isKnown(id: ConnectionId): boolean;
  /** Nothing is known yet, and nothing has failed. */
  isConnecting(id: ConnectionId): boolean;
}

/**
 * Which connection speaks for each Secret. A new kubeconfig takes over from one that works when it has been listed, so that
 * no event falls between the two, or when it has failed: then its failure is the truth.
 */
export class Rotations {
  readonly #open: OpenConnections;
  readonly #speaking = new Map<string, Lead>();
  readonly #before = new Map<string, ConnectionId>();
  readonly #waiting = new Set<string>();
  readonly #parted = new Map<ConnectionId, Parting>();

  constructor(open: OpenConnections) {
    this.#open = open;
  }

  /** True while a new connection is waited for: what is learned of it may end the wait. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** What speaks for the Secret now, given what its content leads to. */
  lead(secret: string, next: Lead): Lead {
    const now = this.#speaking.get(secret);
    this.#waiting.delete(secret);
    if (now && now.id !== next.id) {
      if (this.#open.isKnown(now.id) && this.#open.isConnecting(next.id)) {
        this.#waiting.add(secret);
        return now;
      }
      this.#before.set(secret, now.id);
    }
    this.#speaking.set(secret, next);
    this.#parted.delete(next.id);
    return next;
  }

  /** Where the Secret led before, while that connection is still open. */
  before(secret: string): ConnectionId | undefined {
    const id = this.#before.get(secret);
    return id !== undefined && this.#open.isOpen(id) ? id : undefined;
  }

  /** True when we have seen that it led elsewhere, whatever has become of that. */
  hasLedElsewhere(secret: string): boolean {
    return this.#before.has(secret);
  }

  /** What is known of the cluster that the Secret led to when it was last there; nothing once that is out of reach. */
  last(secret: string): Parting | undefined {
    const id = this.#speaking.get(secret)?.id;
    const parting = id && (this.#parted.get(id) ?? id);
    return parting === "empty" || (parting && this.#open.isOpen(parting)) ? parting : undefined;
  }

  /** A connection was closed, and this is what was known of its cluster then. */
  closed(id: ConnectionId, parting: Parting | undefined): void {
    const isLast = [...this.#speaking.values()].some((lead) => lead.id === id);
    if (parting && isLast) this.#parted.set(id, parting);
  }

  /** Forgets the Secrets that nobody names any more. */
  retain(secrets: ReadonlySet<string>): void {
    for (const secret of this.#speaking.keys()) if (!secrets.has(secret)) this.#forget(secret);
  }

  #forget(secret: string): void {
    const lead = this.#speaking.get(secret);
    if (lead) this.#parted.delete(lead.id);
    this.#speaking.delete(secret);
    this.#before.delete(secret);
    this.#waiting.delete(secret);
  }
}

import { type ConnectionId, localConnection } from "../core/ids.ts";
import type { ClusterView } from "../core/world.ts";
import type { KubeClient } from "../kube/client.ts";
import type { ConnectionConfig } from "../kube/connection-config.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import { type ClusterChange, Connection } from "./connection.ts";
import type { ConnectionSummary } from "./summary.ts";

export interface RegistryOptions {
  readonly local: KubeClient;
  /** How the local API server is reached. */
  readonly localConfig: ConnectionConfig;
  readonly connect: (id: ConnectionId, config: ConnectionConfig) => KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: (id: ConnectionId, change: ClusterChange) => void;
}

/**
 * The clusters we are connected to. Same config: nothing happens; a new config is a new connection. One that nobody wants
 * any more is leaving: it stays open until it is closed, so that what we wrote there can be taken away. Others are not
 * touched.
 */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #connections = new Map<ConnectionId, Connection>();
  /** Since when, on the monotonic clock. */
  readonly #leaving = new Map<ConnectionId, number>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** Opens the local connection, which stays. */
  start(): void {
    this.#open(localConnection, this.#options.local, this.#options.localConfig);
  }

  get(id: ConnectionId): Connection | undefined {
    return this.#connections.get(id);
  }

  isOpen(id: ConnectionId): boolean {
    return this.#connections.has(id);
  }

  /** Its nodes and Peers are known. */
  isKnown(id: ConnectionId): boolean {
    return this.isOpen(id) && this.get(id)?.unknown === undefined;
  }

  /** Not opened yet, or nothing was listed yet and nothing has failed. */
  isConnecting(id: ConnectionId): boolean {
    return !this.isOpen(id) || this.get(id)?.unknown === "Connecting";
  }

  ids(): ConnectionId[] {
    return [...this.#connections.keys()].sort();
  }

  /** Every cluster as it is now, the local one first. */
  views(): Map<ConnectionId, ClusterView> {
    const ids = [localConnection, ...this.ids().filter((id) => id !== localConnection)];
    return new Map(
      ids.flatMap((id) => {
        const connection = this.#connections.get(id);
        return connection ? [[id, connection.view()] as const] : [];
      }),
    );
  }

  /** The hosts of the API servers that we use: addresses and names, sorted. */
  hosts(): string[] {
    return [...new Set([...this.#connections.values()].map(({ host }) => host))].sort();
  }

  /** Every cluster in numbers. */
  summaries(): ConnectionSummary[] {
    return [...this.#connections.values()].map((connection) => connection.summary());
  }

  /** Opens what is wanted and missing; what nobody wants any more is leaving from now on. */
  want(remote: ReadonlyMap<ConnectionId, ConnectionConfig>): void {
    for (const [id, config] of remote) {
      this.#leaving.delete(id);
      if (!this.#connections.has(id)) this.#tryToOpen(id, config);
    }
    for (const id of this.ids())
      if (id !== localConnection && !remote.has(id) && !this.#leaving.has(id)) this.#leave(id);
  }

  /** Connections that nobody wants any more, sorted. */
  leaving(): ConnectionId[] {
    return [...this.#leaving.keys()].sort();
  }

  /** For how long a connection has been leaving; undefined when it is not. */
  leavingMs(id: ConnectionId): number | undefined {
    const sinceMs = this.#leaving.get(id);
    return sinceMs === undefined ? undefined : this.#options.clock.now() - sinceMs;
  }

  /** Lists these clusters anew, at once: what waits for a retry does not wait any longer. */
  relist(ids: Iterable<ConnectionId>): void {
    for (const id of ids) this.#connections.get(id)?.relist();
  }

  async stop(): Promise<void> {
    await Promise.all(this.ids().map((id) => this.close(id)));
  }

  async close(id: ConnectionId): Promise<void> {
    const connection = this.#connections.get(id);
    this.#connections.delete(id);
    this.#leaving.delete(id);
    await connection?.stop();
    if (!connection || id === localConnection) return;
    connection.client.close();
    this.#options.log.info("cluster disconnected", { connection: id });
  }

  #leave(id: ConnectionId): void {
    const { clock, log } = this.#options;
    this.#leaving.set(id, clock.now());
    log.info("cluster leaving", { connection: id });
  }

  /** One that cannot even be opened stays unknown, and must not keep the others from being opened. */
  #tryToOpen(id: ConnectionId, config: ConnectionConfig): void {
    const { connect, log } = this.#options;
    try {
      this.#open(id, connect(id, config), config);
    } catch (error) {
      // Without the message: it may quote the config.
      log.error("cluster not opened", { connection: id, error: error instanceof Error ? error.name : typeof error });
    }
  }

  #open(id: ConnectionId, client: KubeClient, config: ConnectionConfig): void {
    const { clock, log, onChange } = this.#options;
    const connection = new Connection({
      id,
      client,
      clock,
      log: log.with({ connection: id }),
      onChange: (change) => onChange(id, change),
      config,
    });
    this.#connections.set(id, connection);
    connection.start();
  }
}

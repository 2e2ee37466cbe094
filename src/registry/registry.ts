import { type ConnectionId, localConnection } from "../core/ids.ts";
import type { ClusterView } from "../core/world.ts";
import type { KubeClient } from "../kube/client.ts";
import type { ConnectionConfig } from "../kube/connection-config.ts";
import { type CredentialExpiry, credentialExpiry } from "../kube/credential-expiry.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import { type ClusterChange, Connection } from "./connection.ts";
import type { ConnectionSummary } from "./summary.ts";

export interface RegistryOptions {
  readonly local: KubeClient;
  readonly connect: (id: ConnectionId, config: ConnectionConfig) => KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: (id: ConnectionId, change: ClusterChange) => void;
}

/**
 * The clusters we are connected to. Same config: nothing happens; a new config is a new connection, and the old one
 * closes. Others are not touched.
 */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #connections = new Map<ConnectionId, Connection>();

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** Opens the local connection, which stays. */
  start(): void {
    this.#open(localConnection, this.#options.local);
  }

  get(id: ConnectionId): Connection | undefined {
    return this.#connections.get(id);
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

  /** Every cluster in numbers. */
  summaries(): ConnectionSummary[] {
    return [...this.#connections.values()].map((connection) => connection.summary());
  }

  /** Opens what is wanted and missing, closes what nobody wants any more. */
  async want(remote: ReadonlyMap<ConnectionId, ConnectionConfig>): Promise<void> {
    for (const [id, config] of remote) {
      if (!this.#connections.has(id)) this.#open(id, this.#options.connect(id, config), credentialExpiry(config));
    }
    await Promise.all(
      this.ids()
        .filter((id) => id !== localConnection && !remote.has(id))
        .map((id) => this.#close(id)),
    );
  }

  /** Lists every cluster anew, at once: what waits for a retry does not wait any longer. */
  relist(): void {
    for (const connection of this.#connections.values()) connection.relist();
  }

  async stop(): Promise<void> {
    await Promise.all(this.ids().map((id) => this.#close(id)));
  }

  async #close(id: ConnectionId): Promise<void> {
    const connection = this.#connections.get(id);
    this.#connections.delete(id);
    await connection?.stop();
    if (!connection || id === localConnection) return;
    connection.client.close();
    this.#options.log.info("cluster disconnected", { connection: id });
  }

  #open(id: ConnectionId, client: KubeClient, credential?: CredentialExpiry): void {
    const { clock, log, onChange } = this.#options;
    const connection = new Connection({
      id,
      client,
      clock,
      log: log.with({ connection: id }),
      onChange: (change) => onChange(id, change),
      credential,
    });
    this.#connections.set(id, connection);
    connection.start();
  }
}

import { type ConnectionId, localConnection } from "../core/ids.ts";
import type { ClusterView } from "../core/world.ts";
import type { KubeClient } from "../kube/client.ts";
import type { ConnectionConfig } from "../kube/connection-config.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import { type ClusterChange, Connection } from "./connection.ts";
import { fateOf } from "./leaving.ts";
import type { WantedConnection } from "./wanted.ts";

export interface RegistryOptions {
  readonly local: KubeClient;
  readonly connect: (id: ConnectionId, config: ConnectionConfig) => KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onChange: (id: ConnectionId, change: ClusterChange) => void;
}

/** A cluster that no mesh names any more is given this long to become empty before its connection closes. */
const leavingLimitMs = 10 * 60_000;

/** The clusters we are connected to. Same config: nothing happens; new config: a new connection beside the old one. */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #connections = new Map<ConnectionId, Connection>();
  readonly #leavingSinceMs = new Map<ConnectionId, number>();
  readonly #users = new Map<ConnectionId, ReadonlySet<string>>();

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

  /** Every cluster as it is now. The local one is first, those that leave are last. */
  views(): Map<ConnectionId, ClusterView> {
    const order = (id: ConnectionId): string => `${this.isLeaving(id) ? 2 : id === localConnection ? 0 : 1}${id}`;
    const connections = [...this.#connections].sort(([a], [b]) => (order(a) < order(b) ? -1 : 1));
    return new Map(connections.map(([id, connection]) => [id, connection.view()]));
  }

  isLeaving(id: ConnectionId): boolean {
    return this.#leavingSinceMs.has(id);
  }

  /**
   * Opens what is wanted and missing. What nobody wants any more closes at once while an entry that used it still
   * exists (its Secret changed or broke: no word about the cluster); only when all such entries are gone does it leave.
   */
  async want(wanted: ReadonlyMap<ConnectionId, WantedConnection>, exists: (user: string) => boolean): Promise<void> {
    for (const [id, { config, users }] of wanted) {
      this.#leavingSinceMs.delete(id);
      this.#users.set(id, users);
      if (!this.#connections.has(id)) this.#open(id, this.#options.connect(id, config));
    }
    const unwanted = this.ids().filter((id) => id !== localConnection && !wanted.has(id) && !this.isLeaving(id));
    const broken = unwanted.filter((id) => [...(this.#users.get(id) ?? [])].some(exists));
    for (const id of unwanted) if (!broken.includes(id)) this.#leavingSinceMs.set(id, this.#options.clock.now());
    await Promise.all(broken.map((id) => this.close(id)));
  }

  /** What may be done to a cluster that leaves: `drain` its Peers, `wait`, or `close` the connection. */
  fate(id: ConnectionId): "drain" | "wait" | "close" {
    const sinceMs = this.#leavingSinceMs.get(id);
    const leaving = this.#connections.get(id);
    if (sinceMs === undefined || !leaving) return "wait";
    if (this.#options.clock.now() - sinceMs > leavingLimitMs) return "close";
    const others = [...this.#connections.values()].filter((connection) => !this.isLeaving(connection.id));
    return fateOf(
      leaving.view(),
      others.map((connection) => connection.view()),
    );
  }

  async close(id: ConnectionId): Promise<void> {
    const connection = this.#connections.get(id);
    this.#connections.delete(id);
    this.#leavingSinceMs.delete(id);
    this.#users.delete(id);
    await connection?.stop();
    if (!connection || id === localConnection) return;
    connection.client.close();
    this.#options.log.info("cluster disconnected", { connection: id });
  }

  async stop(): Promise<void> {
    await Promise.all(this.ids().map((id) => this.close(id)));
  }

  #open(id: ConnectionId, client: KubeClient): void {
    const { clock, log, onChange } = this.#options;
    const connection = new Connection({
      id,
      client,
      clock,
      log: log.with({ connection: id }),
      onChange: (change) => onChange(id, change),
    });
    this.#connections.set(id, connection);
    connection.start();
  }
}

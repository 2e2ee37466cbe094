import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { NodeConfig } from "../config/config.ts";
import type { Environment } from "../config/flag-words.ts";
import type { HostPort } from "../config/host-port.ts";
import { RosterKeeper } from "../discovery/keep-roster.ts";
import type { Discovery } from "../discovery/member.ts";
import { startDiscovery } from "../discovery/start-discovery.ts";
import { type Lookup, StaticPeers } from "../discovery/static-peers.ts";
import type { EndpointId } from "../identity.ts";
import type { Manager } from "../links/manager.ts";
import { seenPeers } from "../links/sight.ts";
import type { NodeIdentity } from "../node-identity.ts";
import type { NotLinked, Sight } from "./api-ports.ts";

export interface PeeringOptions {
  readonly config: NodeConfig;
  readonly identity: NodeIdentity;
  readonly manager: Manager;
  readonly udpPort: number;
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lookup: Lookup;
}

/** Brings together who is to be a peer: discovery, the configuration, and who is named while the node runs. */
export class Peering {
  readonly #options: PeeringOptions;
  readonly #keeper: RosterKeeper;
  readonly #static: StaticPeers;
  #discovery: Discovery | undefined;

  constructor(options: PeeringOptions) {
    const { config, identity, manager, log } = options;
    this.#options = options;
    const { derive } = identity;
    const want = manager.want.bind(manager);
    this.#keeper = new RosterKeeper({ self: identity, ...(derive && { derive }), want, log });
    this.#static = new StaticPeers({
      ...options,
      peers: config.peers,
      isLinked: (id) => manager.links().some(({ peer }) => peer === id),
      onChange: () => this.#updateStatic(),
    });
  }

  async start(): Promise<void> {
    const { config, identity } = this.#options;
    this.#updateStatic();
    this.#static.start();
    const onMembers = this.#keeper.setMembers.bind(this.#keeper);
    this.#discovery = await startDiscovery(config, { ...this.#options, self: identity, onMembers });
  }

  async close(): Promise<void> {
    await this.#static.close();
    await this.#discovery?.close();
  }

  /** Wants the peer from now on; tells how the first attempt ends. */
  async connect(id: EndpointId, addresses: readonly HostPort[]): Promise<"linked" | NotLinked> {
    const resolved = await this.#static.resolve(addresses);
    this.#static.add(id, addresses);
    const outcome = await this.#options.manager.connect({ id, addresses: resolved });
    return outcome.kind === "linked" ? "linked" : { reason: outcome.reason };
  }

  sight(): Sight {
    const { config, manager } = this.#options;
    const { peers: roster, skipped } = this.#keeper.roster;
    return {
      mode: config.discovery.mode,
      discovery: this.#discovery?.state() ?? { known: false, problem: "Starting" },
      peers: seenPeers({ roster, states: manager.peers(), links: manager.links() }),
      skipped,
    };
  }

  #updateStatic(): void {
    this.#keeper.setStaticPeers(this.#static.peers());
  }
}

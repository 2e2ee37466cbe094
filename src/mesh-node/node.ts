import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import type { Phase, SidecarPorts } from "./api/api-ports.ts";
import { startHttp } from "./api/http.ts";
import { Peering } from "./api/peering.ts";
import { Closing } from "./closing.ts";
import type { NodeConfig } from "./config/config.ts";
import type { Environment } from "./config/flag-words.ts";
import { formatHostPort } from "./config/host-port.ts";
import type { Lookup } from "./discovery/static-peers.ts";
import { openDocuments } from "./documents/open-documents.ts";
import { createSync } from "./documents/sync.ts";
import type { EndpointId } from "./identity.ts";
import { formationOf, linkProtocol } from "./links/formation.ts";
import { createManager } from "./links/manager.ts";
import { identityOf } from "./node-identity.ts";
import { NodeMetrics } from "./node-metrics.ts";
import { StartError } from "./start-error.ts";
import type { ListenOptions, Transport } from "./transport/transport.ts";

/** What a node needs from outside. */
export interface NodePorts {
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lookup: Lookup;
  readonly listen: (options: ListenOptions) => Promise<Transport>;
}

export interface RunningNode {
  readonly endpointId: EndpointId;
  /** Where the API is, as `--listen` takes it. */
  readonly address: string;
  /** Where peers dial, `ip:port`. */
  readonly udpAddress: string;
  /** Looks for no more peers, ends calls, says goodbye to the peers, and closes the documents. */
  stop(): Promise<void>;
}

/** Starts everything in order. If one part fails, those that run are closed and its error is thrown. */
export async function startNode(config: NodeConfig, ports: NodePorts): Promise<RunningNode> {
  const closing = new Closing(ports);
  try {
    return await start(config, ports, closing);
  } catch (error) {
    await closing.close();
    throw error;
  }
}

async function start(config: NodeConfig, ports: NodePorts, closing: Closing): Promise<RunningNode> {
  const { clock, log } = ports;
  const identity = identityOf(config);
  const metrics = new NodeMetrics();
  const documents = await openDocuments({ directory: config.dataDir, clock, log });
  closing.add("documents", () => documents.close());
  const transport = await listenOn(config, identity.seed, ports.listen);
  const handler = createSync({ store: documents, clock, log });
  closing.add("sync", () => handler.close());
  const formation = formationOf(config.formationId, config.sharedKey);
  const observe = metrics.observe.bind(metrics);
  const manager = createManager({ transport, formation, handler, clock, log, observe });
  closing.add("manager", () => manager.close());
  const peering = new Peering({ ...ports, config, identity, manager, udpPort: portIn(transport.address) });
  let phase: Phase = "starting";
  const api: SidecarPorts = {
    self: { nodeId: config.nodeId, endpointId: identity.id },
    documents,
    phase: () => phase,
    links: () => manager.links(),
    traffic: () => manager.traffic(),
    sync: () => handler.stats(),
    connect: (id, addresses) => peering.connect(id, addresses),
    disconnect: (id) => manager.disconnect(id),
    sight: () => peering.sight(),
  };
  const http = await startHttp({ listen: config.listen, ports: api, metrics, log });
  closing.add("api", () => http.stop());
  closing.add("peering", () => peering.close());
  await peering.start();
  phase = "running";
  log.info("mesh node running", { endpointId: identity.id, api: http.address, udp: transport.address });
  const stop = (): Promise<void> => {
    phase = "stopping";
    return closing.close();
  };
  return { endpointId: identity.id, address: http.address, udpAddress: transport.address, stop };
}

async function listenOn({ udp }: NodeConfig, seed: Uint8Array, listen: NodePorts["listen"]): Promise<Transport> {
  const address = formatHostPort({ host: udp.ip, port: udp.port });
  try {
    return await listen({ seed, address, protocol: linkProtocol });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(`${why}; see --iroh-udp-host and --iroh-udp-port`);
  }
}

function portIn(address: string): number {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}

import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { NodeConfig } from "../config/config.ts";
import type { Environment } from "../config/flag-words.ts";
import type { EndpointId } from "../identity.ts";
import type { Discovery, Member } from "./member.ts";

export interface DiscoveryParts {
  readonly self: { readonly id: EndpointId; readonly podName?: string };
  /** The port that peers dial. */
  readonly udpPort: number;
  readonly onMembers: (members: readonly Member[]) => void;
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Logger;
}

const nobody: Discovery = { members: () => [], state: () => ({ known: true }), close: async () => undefined };

/** What is not chosen is not even loaded. */
export async function startDiscovery(config: NodeConfig, parts: DiscoveryParts): Promise<Discovery> {
  if (config.discovery.mode === "kubernetes") return startKubernetes(config, parts);
  if (config.discovery.mode === "mdns") return startMdns(config, parts);
  return nobody;
}

async function startKubernetes({ discovery }: NodeConfig, parts: DiscoveryParts): Promise<Discovery> {
  const { self, udpPort, onMembers, env, clock, log } = parts;
  const { startKubernetesDiscovery } = await import("./discover-kubernetes.ts");
  const { podName } = self;
  const isPublishing = discovery.publishId && podName !== undefined;
  if (discovery.publishId && !isPublishing) log.warn("POD_NAME is not set: the endpoint id is not published");
  return startKubernetesDiscovery({
    ...(discovery.namespace !== undefined && { namespace: discovery.namespace }),
    labelSelector: discovery.labelSelector,
    annotationPrefix: discovery.annotationPrefix,
    intervalMs: discovery.intervalSeconds * 1000,
    defaultPort: udpPort,
    ...(isPublishing && { publish: { podName, endpointId: self.id } }),
    ...(discovery.serviceAccountDir !== undefined && { directory: discovery.serviceAccountDir }),
    onMembers,
    env,
    clock,
    log,
  });
}

async function startMdns({ nodeId, formationId, discovery }: NodeConfig, parts: DiscoveryParts): Promise<Discovery> {
  const { startMdnsDiscovery } = await import("./discover-mdns.ts");
  const { self, udpPort, onMembers, clock, log } = parts;
  return startMdnsDiscovery({
    self: { endpointId: self.id, nodeId, formationId, port: udpPort },
    intervalMs: discovery.intervalSeconds * 1000,
    onMembers,
    clock,
    log,
  });
}

// Many mesh nodes in one process; see mesh-node-pods.ts.
import type { NodeConfig } from "../src/mesh-node/config/config.ts";
import { systemLookup } from "../src/mesh-node/discovery/static-peers.ts";
import { type RunningNode, startNode } from "../src/mesh-node/node.ts";
import { listenIroh } from "../src/mesh-node/transport/iroh.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { type Logger, silentLogger } from "../src/runtime/log.ts";
import { type LinkChange, linkChangeOf } from "./mesh-node-links.ts";
import type { PodWish } from "./mesh-node-pods.ts";
import { cpuSeconds, rssMib } from "./process-figures.ts";

export interface HostRun {
  readonly pods: readonly PodWish[];
}

export interface HostReady {
  readonly kind: "ready";
  readonly ids: readonly string[];
}

/** What a host is asked. It answers with the same kind. */
export type HostRequest = { readonly kind: "changes" } | { readonly kind: "cost" };

export interface HostChanges {
  readonly kind: "changes";
  /** Since it was last asked. */
  readonly changes: readonly LinkChange[];
}

/** Of the whole process. */
export interface HostCost {
  readonly kind: "cost";
  readonly rssMib: number;
  readonly cpuSeconds: number;
}

async function run({ pods }: HostRun): Promise<void> {
  let changes: LinkChange[] = [];
  process.on("disconnect", () => process.exit());
  const nodes: RunningNode[] = [];
  for (const pod of pods) {
    const log = linkLogger((change) => changes.push({ ...change, node: nodes[pods.indexOf(pod)]?.endpointId ?? "" }));
    const ports = { env: pod.env, clock: systemClock, lookup: systemLookup, listen: listenIroh, log };
    nodes.push(await startNode(configOf(pod), ports));
  }
  process.on("message", ({ kind }: HostRequest) => {
    if (kind === "cost") return process.send?.({ kind, rssMib: rssMib(), cpuSeconds: cpuSeconds() } satisfies HostCost);
    process.send?.({ kind, changes } satisfies HostChanges);
    changes = [];
  });
  process.send?.({ kind: "ready", ids: nodes.map(({ endpointId }) => endpointId) } satisfies HostReady);
}

function configOf({ name, ip, port, dataDir, sharedKey, selector, serviceAccountDir }: PodWish): NodeConfig {
  return {
    listen: { kind: "tcp", host: "127.0.0.1", port: 0 },
    dataDir,
    nodeId: name,
    formationId: "bench",
    sharedKey: new Uint8Array(Buffer.from(sharedKey, "base64")),
    udp: { ip, port },
    peers: [],
    unreadablePeers: [],
    discovery: {
      mode: "kubernetes",
      labelSelector: selector,
      annotationPrefix: "peat.",
      intervalSeconds: 30,
      publishId: false,
      serviceAccountDir,
      podName: name,
    },
    logLevel: "info",
  };
}

/** Takes from the log what it says of links. */
function linkLogger(take: (change: Omit<LinkChange, "node">) => void): Logger {
  const logger: Logger = {
    ...silentLogger,
    info: (msg, fields = {}) => {
      const change = linkChangeOf({ ...fields, msg, time: Date.now() });
      if (change) take(change);
    },
    with: () => logger,
  };
  return logger;
}

await run(JSON.parse(process.argv[2] ?? "{}") as HostRun);

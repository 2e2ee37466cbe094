import { inspect } from "node:util";
import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { clusterMeshCrd, customResourceDefinitions } from "../../src/api/crd.ts";
import { type PeerObject, peers } from "../../src/api/kilo-peer.ts";
import { events, leases } from "../../src/kube/resource.ts";
import type { OperatorConfig } from "../../src/operator/config.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { Fields, Logger } from "../../src/runtime/log.ts";
import type { Sandbox, SandboxCluster } from "../../src/sandbox/sandbox.ts";
import { eventually } from "./eventually.ts";
import { Hearing } from "./hearing.ts";
import type { Outputs } from "./leak-search.ts";
import { startOperator } from "./run-operator.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Fields;
}

export interface WatchedOperator {
  readonly lines: readonly Line[];
  /** Everything that it has said so far, to anybody, in any way. */
  outputs(): Promise<Outputs>;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

const loopback = { host: "127.0.0.1", port: 0 };

/** An operator in the first cluster of a sandbox, with probes, metrics and a log of every level, all of it kept. */
export async function startWatched(
  sandbox: Sandbox,
  clock: Clock,
  config: Partial<OperatorConfig> = {},
): Promise<WatchedOperator> {
  const [home] = sandbox.clusters;
  if (!home) throw new Error("no cluster to run in");
  const lines: Line[] = [];
  const operator = startOperator({
    kubeconfig: home.kubeconfig(),
    userAgent: "watched-operator",
    clock,
    log: keeping(lines, {}),
    hearing: new Hearing(),
    config: { health: loopback, metrics: { address: loopback, tls: false }, ...config },
  });
  const { name } = clusterMeshCrd().metadata;
  await eventually(() => home.store.get(customResourceDefinitions, { name }));
  const ask = async (what: "metrics" | "health", path: string): Promise<string> => {
    const line = lines.find(({ message, fields }) => message === "serving" && fields.what === what);
    return (await fetch(`http://${line?.fields.address}${path}`)).text();
  };
  return {
    lines,
    metrics: () => ask("metrics", "/metrics"),
    outputs: async () => ({
      log: `${JSON.stringify(lines)} ${everythingIn(lines)}`,
      metrics: await ask("metrics", "/metrics"),
      readyz: await ask("health", "/readyz"),
      healthz: await ask("health", "/healthz"),
      ...storedIn(sandbox.clusters),
    }),
    stop: () => operator.stop(),
  };
}

function keeping(lines: Line[], own: Fields): Logger {
  const keep = (level: string) => (message: string, fields?: Fields) =>
    void lines.push({ level, message, fields: { ...own, ...fields } });
  return {
    debug: keep("debug"),
    info: keep("info"),
    warn: keep("warn"),
    error: keep("error"),
    with: (fields) => keeping(lines, { ...own, ...fields }),
  };
}

/** Errors with their stacks, causes and hidden fields too. */
const everythingIn = (value: unknown): string =>
  inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null, breakLength: Infinity, showHidden: true });

/** What can be read in the clusters and comes from an operator. A preshared key belongs on its Peer. */
function storedIn(clusters: readonly SandboxCluster[]): Outputs {
  const all = (read: (cluster: SandboxCluster) => unknown): string => JSON.stringify(clusters.map(read));
  const withoutPresharedKey = ({ metadata, spec: { presharedKey: _, ...spec } }: PeerObject) => ({ metadata, spec });
  return {
    meshes: JSON.stringify(clusters[0]?.store.list(clusterMeshes)),
    events: all(({ store }) => store.list(events)),
    leases: all(({ store }) => store.list(leases)),
    peers: all(({ store }) => store.list(peers).map(withoutPresharedKey)),
  };
}

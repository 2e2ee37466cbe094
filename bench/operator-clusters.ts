// Embedded clusters in a process of their own; see operator-arena.ts.
import { startSandbox } from "../src/sandbox/sandbox.ts";
import type { CountedRequest } from "./operator-requests.ts";

export interface ClustersRun {
  readonly names: readonly string[];
}

export interface ClustersReady {
  readonly kind: "ready";
  readonly kubeconfigs: readonly string[];
}

export interface ClustersRequests {
  readonly kind: "requests";
  readonly requests: readonly CountedRequest[];
}

async function run({ names }: ClustersRun): Promise<void> {
  process.on("disconnect", () => process.exit());
  const sandbox = await startSandbox({ clusters: names });
  const requests = (): CountedRequest[] =>
    sandbox.clusters
      .flatMap((cluster) => cluster.requests.all())
      .map(({ verb, resource, userAgent }) => ({ verb, resource: resource.replace(/\..*/, ""), userAgent }));
  process.on("message", () => process.send?.({ kind: "requests", requests: requests() } satisfies ClustersRequests));
  const kubeconfigs = sandbox.clusters.map((cluster) => cluster.kubeconfig());
  process.send?.({ kind: "ready", kubeconfigs } satisfies ClustersReady);
}

await run(JSON.parse(process.argv[2] ?? "{}") as ClustersRun);

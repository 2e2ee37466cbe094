// The informer of @kubernetes/client-node in a process of its own; see informer.ts.
import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";
import type { InformerRun } from "./informer.ts";
import { type InformerJob, measureInformer } from "./informer-run.ts";

async function run({ kubeconfig, nodes, events }: InformerRun): Promise<void> {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const informer = makeInformer(config, "/api/v1/nodes", () => api.listNode());
  const listed = Promise.withResolvers<void>();
  const followed = Promise.withResolvers<void>();
  let added = 0;
  let updated = 0;
  informer.on("add", () => {
    if (++added === nodes) listed.resolve();
  });
  informer.on("update", () => {
    if (++updated === events) followed.resolve();
  });
  informer.on("error", (error) => {
    throw new Error("the informer of client-node stopped", { cause: error });
  });
  const job: InformerJob = {
    list: () => {
      informer.start().catch(listed.reject);
      return listed.promise;
    },
    follow: () => followed.promise,
    size: () => informer.list().length,
  };
  await measureInformer(job);
}

await run(JSON.parse(process.argv[2] ?? "{}") as InformerRun);

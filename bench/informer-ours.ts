// Our informer in a process of its own; see informer.ts.
import { nodes, readNode } from "../src/api/kilo-node.ts";
import { sameNodeRecord } from "../src/core/node.ts";
import { createClient } from "../src/kube/http-client.ts";
import { Informer } from "../src/kube/informer.ts";
import { parseKubeconfig } from "../src/kube/kubeconfig.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { silentLogger } from "../src/runtime/log.ts";
import type { InformerRun } from "./informer.ts";
import { type InformerJob, measureInformer } from "./informer-run.ts";
import { factChangesIn, lastVersionOf } from "./node-events.ts";

const followWithinMs = 120_000;

async function run({ kubeconfig, events }: InformerRun): Promise<void> {
  const reading = parseKubeconfig(kubeconfig, { allow: new Set(["loopback"]) });
  if (!reading.ok) throw new Error("the bench server's kubeconfig is refused");
  const client = createClient(reading.connection, { cluster: "bench" });
  const shared = { client, clock: systemClock, log: silentLogger };
  const informer = new Informer({ ...shared, resource: nodes, decode: readNode, same: sameNodeRecord });
  let changes = 0;
  informer.onChange(({ before }) => {
    if (before) changes++;
  });
  const job: InformerJob = {
    list: () =>
      new Promise((resolve) => {
        informer.onListed(resolve);
        informer.start();
      }),
    follow: async () => {
      const reached = await informer.reached(lastVersionOf(events), followWithinMs);
      if (!reached) throw new Error("the events did not come");
      if (changes !== factChangesIn(events)) throw new Error(`${changes} changes told, not ${factChangesIn(events)}`);
    },
    size: () => informer.size,
  };
  await measureInformer(job);
}

await run(JSON.parse(process.argv[2] ?? "{}") as InformerRun);

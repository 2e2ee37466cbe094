import { afterAll, beforeAll, expect, it } from "vitest";
import { nodes } from "../../src/api/kilo-node.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { fleetNode } from "../../src/sandbox/fleet.ts";
import { eventually } from "../../test/support/eventually.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { agent, clientFor, known, nodeInformer } from "./support.ts";

let plane: ControlPlane;
let client: KubeClient;

beforeAll(async () => {
  plane = await startControlPlane({ clusters: 1, audit: true });
  const [cluster] = plane.clusters;
  if (cluster) client = clientFor(cluster);
}, 120_000);

afterAll(async () => {
  client?.close();
  plane?.clusters[0]?.resume();
  await plane?.stop();
});

it("an API server that stops answering is noticed within 10 s, and found again without a new list", async () => {
  const [cluster] = plane.clusters;
  if (!cluster) throw new Error("no cluster");
  const informer = nodeInformer(client);
  informer.start();
  await known(informer);
  // The watch is open once it has told of a change.
  await client.create(nodes, fleetNode(0, 0, "first"));
  await eventually(() => expect(informer.get("first")).toBeDefined());
  const frozenAt = performance.now();
  cluster.pause();
  await eventually(() => expect(informer.knowledge.state).toBe("unknown"), { withinMs: 10_000 });
  const noticedSeconds = (performance.now() - frozenAt) / 1000;
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  cluster.resume();
  const thawedAt = performance.now();
  await eventually(() => expect(informer.knowledge.state).toBe("known"), { withinMs: 45_000 });
  const foundSeconds = (performance.now() - thawedAt) / 1000;
  expect(informer.listCount).toBe(1);
  const ours = (await cluster.audit()).filter(({ userAgent }) => userAgent === agent);
  expect(ours.filter(({ verb }) => verb === "list").length).toBeLessThanOrEqual(2);
  console.log(
    `frozen server: noticed after ${noticedSeconds.toFixed(1)} s, found again after ${foundSeconds.toFixed(1)} s`,
  );
  await informer.stop();
}, 120_000);

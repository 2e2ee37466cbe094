import { afterAll, beforeAll, expect, it } from "vitest";
import { nodes } from "../../src/api/kilo-node.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { mapLimited } from "../../src/runtime/limit.ts";
import { fleetNode } from "../../src/sandbox/fleet.ts";
import { eventually } from "../../test/support/eventually.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { clientFor, known, nodeInformer } from "./support.ts";

const requests = 5000;
const everyNth = 50;

let plane: ControlPlane;
let client: KubeClient;

beforeAll(async () => {
  plane = await startControlPlane({ clusters: 1, apiServerFlags: ["--goaway-chance=0.02"] });
  const [cluster] = plane.clusters;
  if (cluster) client = clientFor(cluster);
}, 120_000);

afterAll(async () => {
  client?.close();
  await plane?.stop();
});

it(`${requests} requests to a server that keeps sending us away: none fails, and the watch has no gap`, async () => {
  const informer = nodeInformer(client);
  const seen: string[] = [];
  informer.onChange(({ key, after }) => after && seen.push(key));
  informer.start();
  await known(informer);
  const names: string[] = [];
  const one = async (number: number): Promise<string | undefined> => {
    if (number % everyNth !== 0) return (await client.get(nodes, { name: "steady" })).metadata.name;
    const name = `n-${number}`;
    names.push(name);
    return (await client.create(nodes, fleetNode(0, number % 250, name))).metadata.name;
  };
  await client.create(nodes, fleetNode(0, 0, "steady"));
  const numbers = Array.from({ length: requests }, (_, number) => number);
  const answers = await mapLimited(numbers, 8, one);
  expect(answers).toHaveLength(requests);
  await eventually(() => expect(informer.size).toBe(names.length + 1));
  expect([...seen].sort()).toEqual(["steady", ...names].sort());
  expect(informer.listCount).toBe(1);
  await informer.stop();
}, 120_000);

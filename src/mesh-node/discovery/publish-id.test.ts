import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Discovering } from "../../../test/support/discovering.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { anEndpoint, aSlice } from "../../../test/support/slices.ts";
import { namespaces } from "../../kube/resource.ts";
import type { EndpointId } from "../identity.ts";
import { endpointSlices } from "./slice-facts.ts";

let bed: Discovering;
const endpointId = "c".repeat(64) as EndpointId;
const publish = { podName: "peat-0", endpointId };

beforeEach(async () => {
  bed = await Discovering.create();
  bed.cluster.store.create(namespaces, { metadata: { name: "mesh" } });
});

afterEach(() => bed.stopAll());

const annotationsOf = (name = "peat-abc12") =>
  bed.cluster.store.get(endpointSlices, { namespace: "mesh", name }).metadata.annotations;

const patches = (code?: number) => bed.cluster.requests.count({ verb: "patch", ...(code && { code }) });

test("the own id is on every slice that holds the own pod, and others read it there", async () => {
  bed.put(aSlice({ annotations: { "example.org/theirs": "stays" } }));
  bed.put(aSlice({ name: "second" }));
  bed.put(aSlice({ name: "without-us", endpoints: [anEndpoint("peat-1", "10.44.0.11")] }));
  const { discovery } = bed.start({ publish });
  const { discovery: other } = bed.start();
  await eventually(() => expect(other.members()[0]).toMatchObject({ name: "peat-0", endpointId }));
  await eventually(() => expect(annotationsOf("second")).toEqual({ "peat.endpoint_id.peat-0": endpointId }));
  expect(annotationsOf()).toEqual({ "example.org/theirs": "stays", "peat.endpoint_id.peat-0": endpointId });
  expect(annotationsOf("without-us")).toBeUndefined();
  expect(discovery.members()[0]).toMatchObject({ endpointId });
});

test("without being asked nothing is written", async () => {
  bed.put(aSlice());
  const { names } = bed.start();
  await eventually(() => expect(names()).toHaveLength(2));
  await delay(50);
  expect(patches()).toBe(0);
});

test("it is written once, however often the slice is seen, and again when it was taken away or changed", async () => {
  bed.put(aSlice());
  bed.start({ publish, intervalMs: 1_000 });
  await eventually(() => expect(bed.cluster.requests.count({ verb: "list" })).toBeGreaterThan(4));
  expect(patches()).toBe(1);
  bed.put(aSlice());
  await eventually(() => expect(annotationsOf()).toEqual({ "peat.endpoint_id.peat-0": endpointId }));
  bed.put(aSlice({ annotations: { "peat.endpoint_id.peat-0": "d".repeat(64) } }));
  await eventually(() => expect(annotationsOf()).toEqual({ "peat.endpoint_id.peat-0": endpointId }));
  expect(patches()).toBe(3);
});

test("a slice that comes later gets it too", async () => {
  bed.start({ publish });
  await eventually(() => expect(bed.cluster.requests.openWatches()).toBe(1));
  bed.put(aSlice());
  await eventually(() => expect(annotationsOf()).toEqual({ "peat.endpoint_id.peat-0": endpointId }));
});

test("without the right to patch it says which one is missing, once, and discovery works", async () => {
  bed.put(aSlice());
  const repair = bed.cluster.faults.add({ match: { verb: "patch" }, do: { kind: "status", code: 403 } });
  const { discovery, names, warnings } = bed.start({ publish });
  await eventually(() => expect(patches(403)).toBeGreaterThan(2));
  expect(warnings()).toMatchObject([
    { message: "endpoint id cannot be published", fields: { namespace: "mesh", reason: "PatchForbidden" } },
  ]);
  expect(warnings()[0]?.fields.hint).toContain("patch on endpointslices.discovery.k8s.io");
  expect([names().length, discovery.state().known]).toEqual([2, true]);
  repair();
  await eventually(() => expect(annotationsOf()).toEqual({ "peat.endpoint_id.peat-0": endpointId }));
});

test("a server that fails is asked again, not hot", async () => {
  bed.put(aSlice());
  const patience = { kind: "status", code: 429, retryAfterSeconds: 20 } as const;
  bed.cluster.faults.add({ match: { verb: "patch" }, times: 2, do: patience });
  bed.start({ publish });
  await eventually(() => expect(patches(429)).toBe(1));
  await delay(500);
  expect(patches()).toBe(1);
  await eventually(() => expect(annotationsOf()).toEqual({ "peat.endpoint_id.peat-0": endpointId }));
});

test("somebody who keeps taking it away does not make us write without pause", async () => {
  bed.put(aSlice());
  bed.start({ publish });
  let removals = 0;
  const end = performance.now() + 1_500;
  while (performance.now() < end) {
    if (annotationsOf()) {
      bed.put(aSlice());
      removals++;
    }
    await delay(2);
  }
  expect(removals).toBeGreaterThan(5);
  expect(patches()).toBeLessThan(40);
});

test("a pod whose name is too long for an annotation is told, and nothing is asked of the server", async () => {
  const podName = `peat-${"x".repeat(60)}`;
  bed.put(aSlice({ endpoints: [anEndpoint(podName, "10.44.0.10")] }));
  const { names, warnings } = bed.start({ publish: { podName, endpointId } });
  await eventually(() => expect(names()).toEqual([podName]));
  await eventually(() => expect(warnings()).toMatchObject([{ fields: { reason: "NameTooLong" } }]));
  expect(patches()).toBe(0);
});

test("ids of pods that are gone are swept when they are many, and those of pods that are there stay", async () => {
  const stale = Array.from({ length: 101 }, (_, n) => [`peat.endpoint_id.gone-${n}`, "e".repeat(64)]);
  const annotations = { ...Object.fromEntries(stale), "peat.endpoint_id.peat-1": "f".repeat(64), "peat.zone": "one" };
  bed.put(aSlice({ annotations }));
  bed.start({ publish });
  await eventually(() =>
    expect(annotationsOf()).toEqual({
      "peat.endpoint_id.peat-0": endpointId,
      "peat.endpoint_id.peat-1": "f".repeat(64),
      "peat.zone": "one",
    }),
  );
});

test("it can be closed while it waits to try again", async () => {
  bed.put(aSlice());
  bed.cluster.faults.add({ match: { verb: "patch" }, do: { kind: "status", code: 429, retryAfterSeconds: 300 } });
  const { discovery } = bed.start({ publish });
  await eventually(() => expect(patches()).toBe(1));
  await discovery.close();
  expect(patches()).toBe(1);
});

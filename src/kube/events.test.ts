import { expect, test } from "vitest";
import { NotingLogger } from "../../test/support/an-informer.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import type { CallOptions, KubeClient, MergePatch } from "./client.ts";
import { KubeError } from "./errors.ts";
import type { EventObject } from "./event-object.ts";
import { type EventInput, EventRecorder, type EventRecorderOptions } from "./events.ts";
import type { KubeObject, ObjectRef } from "./object.ts";

const regarding = {
  apiVersion: "kilo.squat.ai/v1alpha1",
  kind: "ClusterMesh",
  name: "mesh",
  namespace: "ns",
  uid: "u1",
};

function anEvent(overrides: Partial<EventInput> = {}): EventInput {
  return { regarding, type: "Warning", reason: "ClusterUnknown", note: "cluster b does not answer", ...overrides };
}

function aRecorder(overrides: Partial<EventRecorderOptions> = {}) {
  const clock = new FakeClock();
  const log = new NotingLogger();
  const created: EventObject[] = [];
  const patched: { name: string; body: unknown }[] = [];
  const fault: { kind?: "server" | "not-found" | "hang" } = {};
  const answer = async (verb: "create" | "patch", options: CallOptions | undefined) => {
    if (fault.kind === "hang")
      await new Promise((_, no) => options?.signal?.addEventListener("abort", () => no(failure())));
    if (fault.kind === "server" || (fault.kind === "not-found" && verb === "patch")) throw failure();
  };
  const failure = () => {
    const kind = fault.kind === "not-found" ? "not-found" : "server";
    return new KubeError({ kind, cluster: "local", verb: "create", resource: "events.events.k8s.io" });
  };
  const client = {
    cluster: "local",
    create: async (_: unknown, object: KubeObject, options?: CallOptions) => {
      await answer("create", options);
      created.push(object as EventObject);
      return object;
    },
    patch: async (_: unknown, { name }: ObjectRef, { body, ...options }: MergePatch) => {
      await answer("patch", options);
      patched.push({ name, body });
    },
  } as unknown as KubeClient;
  const reporter = { controller: "clustermesh-controller", instance: "pod-1" };
  const recorder = new EventRecorder({ client, reporter, clock, log, random: () => 0.5, ...overrides });
  return { clock, log, created, patched, fault, recorder };
}

test("an Event says what, about whom, by whom and when", async () => {
  const { clock, created, recorder } = aRecorder();
  recorder.record(anEvent());
  await clock.settle();
  expect(created).toEqual([
    {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: "mesh.800000000000", namespace: "ns" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "clustermesh-controller",
      reportingInstance: "pod-1",
      action: "ClusterUnknown",
      reason: "ClusterUnknown",
      regarding,
      note: "cluster b does not answer",
      type: "Warning",
    },
  ]);
});

test("an Event about a cluster-scoped object goes to the namespace default", async () => {
  const { clock, created, recorder } = aRecorder();
  recorder.record(anEvent({ regarding: { apiVersion: "v1", kind: "Node", name: "n1" } }));
  await clock.settle();
  expect(created[0]?.metadata.namespace).toBe("default");
});

test("the same again is counted on the same Event", async () => {
  const { clock, created, patched, recorder } = aRecorder();
  for (let i = 0; i < 3; i++) {
    recorder.record(anEvent({ note: `cluster b does not answer (${i})`, noteKey: "b" }));
    await clock.advance(1_000);
  }
  expect(created).toHaveLength(1);
  expect(patched).toEqual([
    { name: "mesh.800000000000", body: { series: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" } } },
    { name: "mesh.800000000000", body: { series: { count: 3, lastObservedTime: "2026-01-01T00:00:02.000000Z" } } },
  ]);
});

test("a burst of the same is one write with its count", async () => {
  const { clock, created, patched, recorder } = aRecorder();
  for (let i = 0; i < 50; i++) recorder.record(anEvent());
  await clock.settle();
  expect(created[0]?.series?.count).toBe(50);
  expect(patched).toEqual([]);
});

test("another reason, type, note or object is another Event", async () => {
  const { clock, created, recorder } = aRecorder();
  recorder.record(anEvent());
  recorder.record(anEvent({ reason: "Other" }));
  recorder.record(anEvent({ type: "Normal" }));
  recorder.record(anEvent({ note: "cluster c does not answer" }));
  recorder.record(anEvent({ regarding: { ...regarding, name: "other" } }));
  await clock.settle();
  expect(created).toHaveLength(5);
});

test("at most twenty writes per object in ten minutes; the rest is dropped and counted", async () => {
  const { clock, created, recorder } = aRecorder();
  for (let i = 0; i < 30; i++) recorder.record(anEvent({ note: `note ${i}` }));
  recorder.record(anEvent({ regarding: { ...regarding, name: "other" } }));
  await clock.settle();
  expect(created).toHaveLength(21);
  expect(recorder.dropped).toBe(10);
  await clock.advance(600_001);
  recorder.record(anEvent({ note: "later" }));
  await clock.settle();
  expect(created).toHaveLength(22);
});

test("an Event that the API has forgotten is written anew", async () => {
  const { clock, created, fault, recorder } = aRecorder();
  recorder.record(anEvent());
  await clock.settle();
  fault.kind = "not-found";
  recorder.record(anEvent());
  await clock.settle();
  expect(created).toHaveLength(2);
  expect(created[1]?.series?.count).toBe(2);
  expect(recorder.dropped).toBe(0);
});

test("an API that refuses costs the Event and nothing else", async () => {
  const { clock, fault, log, created, recorder } = aRecorder();
  fault.kind = "server";
  recorder.record(anEvent());
  await clock.settle();
  expect(recorder.dropped).toBe(1);
  expect(log.of("warn")).toEqual(["event not written"]);
  delete fault.kind;
  recorder.record(anEvent());
  await clock.settle();
  expect(created).toHaveLength(1);
});

test("the queue is bounded", async () => {
  const { fault, recorder } = aRecorder({ maxWaiting: 5 });
  fault.kind = "hang";
  for (let i = 0; i < 9; i++) recorder.record(anEvent({ note: `note ${i}` }));
  expect(recorder.dropped).toBe(4);
});

test("stopping writes what waits, but not for long, and then takes nothing more", async () => {
  const { clock, fault, created, recorder } = aRecorder();
  recorder.record(anEvent());
  await recorder.stop();
  expect(created).toHaveLength(1);
  recorder.record(anEvent());
  expect(recorder.dropped).toBe(1);
  const slow = aRecorder();
  slow.fault.kind = "hang";
  slow.recorder.record(anEvent());
  slow.recorder.record(anEvent({ note: "second" }));
  const stopped = slow.recorder.stop();
  await slow.clock.advance(2_000);
  await stopped;
  await slow.clock.settle();
  expect(slow.recorder.dropped).toBe(2);
  expect(slow.clock.sleeping + clock.sleeping).toBe(0);
  expect(fault.kind).toBeUndefined();
});

test("long notes and names are cut to what the API takes", async () => {
  const { clock, created, recorder } = aRecorder();
  recorder.record(
    anEvent({ note: "ö".repeat(2_000), regarding: { ...regarding, name: `${"n".repeat(199)}.${"m".repeat(50)}` } }),
  );
  await clock.settle();
  expect(Buffer.byteLength(created[0]?.note ?? "")).toBeLessThanOrEqual(1024);
  expect(created[0]?.note).toMatch(/^ö+…$/);
  expect(created[0]?.metadata.name).toBe(`${"n".repeat(199)}.800000000000`);
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aGadget, definitions, gadgetDefinition, gadgets } from "../../test/sandbox/gadget.ts";
import type { KubeObject } from "../kube/object.ts";
import { configMaps, events, leases, namespaces, nodes, type Resource, secrets } from "../kube/resource.ts";
import { type Sandbox, startSandbox } from "./sandbox.ts";
import { StatusError } from "./status.ts";
import type { Storage } from "./storage.ts";

type Loose = KubeObject & Readonly<Record<string, unknown>>;
const loose = (resource: Resource): Resource<Loose> => resource as Resource<Loose>;

describe("the store of a sandbox cluster", () => {
  let sandbox: Sandbox;
  let store: Storage;

  beforeAll(async () => {
    sandbox = await startSandbox({ clusters: ["one", "two"], seed: 7 });
    store = sandbox.cluster("one").store;
    store.create(definitions, gadgetDefinition);
  });
  afterAll(() => sandbox.stop());

  const refusal = (act: () => unknown): StatusError["status"] => {
    try {
      act();
    } catch (error) {
      if (error instanceof StatusError) return error.status;
      throw error;
    }
    throw new Error("it was not refused");
  };

  it("has the namespaces of a new cluster, each with its own uid", () => {
    const names = store.list(namespaces).map(({ metadata }) => metadata.name);
    expect(names).toEqual(["default", "kube-node-lease", "kube-public", "kube-system"]);
    const ref = { name: "kube-system" };
    expect(store.get(namespaces, ref).metadata.uid).toMatch(/^[0-9a-f]{8}-/);
    expect(store.get(namespaces, ref).metadata.uid).not.toBe(
      sandbox.cluster("two").store.get(namespaces, ref).metadata.uid,
    );
  });

  it("gives the same uids for the same seed", async () => {
    const again = await startSandbox({ clusters: ["one"], seed: 7 });
    const ref = { name: "kube-system" };
    expect(again.cluster("one").store.get(namespaces, ref).metadata.uid).toBe(store.get(namespaces, ref).metadata.uid);
    await again.stop();
  });

  it("does not share objects with the caller", () => {
    const labels: Record<string, string> = { a: "1" };
    store.create(configMaps, { metadata: { name: "mine", namespace: "default", labels } });
    labels.a = "2";
    expect(store.get(configMaps, { name: "mine", namespace: "default" }).metadata.labels).toEqual({ a: "1" });
  });

  it("counts a generation for content and not for metadata or status", () => {
    const created = store.create(gadgets, { ...aGadget("counted"), status: { phase: "dropped" } });
    expect(created).toMatchObject({ metadata: { generation: 1 }, spec: { size: 3, color: "red" } });
    expect(created.status).toBeUndefined();
    const ref = { name: "counted", namespace: "default" };
    expect(store.patch(gadgets, ref, { metadata: { labels: { a: "b" } } }).metadata.generation).toBe(1);
    expect(store.patchStatus(gadgets, ref, { status: { phase: "Up" } }).metadata.generation).toBe(1);
    expect(store.patch(gadgets, ref, { spec: { size: 4 }, status: { phase: "ignored" } })).toMatchObject({
      metadata: { generation: 2 },
      status: { phase: "Up" },
    });
    expect(store.create(nodes, { metadata: { name: "uncounted" } }).metadata.generation).toBeUndefined();
  });

  it("changes no version for an update that changes nothing", () => {
    const created = store.create(configMaps, { metadata: { name: "still", namespace: "default" } });
    const before = store.resourceVersion;
    expect(store.update(configMaps, created).metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    expect(store.resourceVersion).toBe(before);
  });

  it("holds an object by its finalizers until the last one goes", () => {
    const ref = { name: "held", namespace: "default" };
    store.create(configMaps, { metadata: { ...ref, finalizers: ["example.com/hold"] } });
    store.delete(configMaps, ref);
    expect(store.get(configMaps, ref).metadata.deletionTimestamp).toBeDefined();
    const status = refusal(() => store.patch(configMaps, ref, { metadata: { finalizers: ["example.com/b"] } }));
    expect(status).toMatchObject({ code: 422, details: { causes: [{ field: "metadata.finalizers" }] } });
    store.patch(configMaps, ref, { metadata: { finalizers: [] } });
    expect(store.find(configMaps, ref)).toBeUndefined();
  });

  it("empties a namespace that is deleted and lets it go when nothing holds its content", () => {
    store.create(namespaces, { metadata: { name: "short-lived" } });
    const ref = { name: "holder", namespace: "short-lived" };
    store.create(configMaps, { metadata: { ...ref, name: "plain" } });
    store.create(configMaps, { metadata: { ...ref, finalizers: ["example.com/hold"] } });
    store.delete(namespaces, { name: "short-lived" });
    expect(store.get(loose(namespaces), { name: "short-lived" }).status).toEqual({ phase: "Terminating" });
    expect(store.list(configMaps, { namespace: "short-lived" })).toHaveLength(1);
    expect(refusal(() => store.create(configMaps, { metadata: { ...ref, name: "late" } }))).toMatchObject({
      code: 403,
    });
    store.patch(configMaps, ref, { metadata: { finalizers: null } });
    expect(store.find(namespaces, { name: "short-lived" })).toBeUndefined();
  });

  it("refuses to delete the namespaces of the system", () => {
    expect(refusal(() => store.delete(namespaces, { name: "kube-system" }))).toMatchObject({
      code: 403,
      reason: "Forbidden",
    });
  });

  it("deletes only what the preconditions name", () => {
    const ref = { name: "guarded", namespace: "default" };
    const { metadata } = store.create(configMaps, { metadata: ref });
    expect(refusal(() => store.delete(configMaps, ref, { uid: "another" })).reason).toBe("Conflict");
    expect(refusal(() => store.delete(configMaps, ref, { resourceVersion: "1" })).reason).toBe("Conflict");
    store.delete(configMaps, ref, { uid: metadata.uid, resourceVersion: metadata.resourceVersion });
    expect(refusal(() => store.get(configMaps, ref)).reason).toBe("NotFound");
  });

  it("lets a Lease be put into being and wants its version afterwards", () => {
    const lease = { metadata: { name: "leader", namespace: "default" }, spec: { holderIdentity: "a" } };
    store.update(loose(leases), lease);
    expect(refusal(() => store.update(loose(leases), lease))).toMatchObject({ code: 422, reason: "Invalid" });
  });

  it("folds the texts of a Secret into its data", () => {
    const secret = { metadata: { name: "folded", namespace: "default" }, stringData: { a: "b" } };
    expect(store.create(loose(secrets), secret)).toMatchObject({ data: { a: "Yg==" }, type: "Opaque" });
    const broken = { metadata: { name: "broken", namespace: "default" }, data: { a: "?" } };
    expect(refusal(() => store.create(loose(secrets), broken)).code).toBe(400);
  });

  it("shows one event in both of its forms", () => {
    const core: Resource<Loose> = { ...events, group: "" } as Resource<Loose>;
    const event = {
      metadata: { name: "e", namespace: "default" },
      eventTime: "2030-01-01T00:00:00.000000Z",
      reportingController: "example.com/test",
      reportingInstance: "test-1",
      action: "Testing",
      reason: "Tested",
      type: "Normal",
      note: "hello",
      regarding: { name: "x", namespace: "default" },
    };
    store.create(loose(events), event);
    expect(store.get(core, { name: "e", namespace: "default" })).toMatchObject({
      apiVersion: "v1",
      message: "hello",
      involvedObject: { name: "x", namespace: "default" },
    });
  });

  it("serves a definition at once and takes its objects along when it goes", () => {
    const definition = {
      ...gadgetDefinition,
      metadata: { name: "widgets.example.com" },
      spec: { ...gadgetDefinition.spec, names: { plural: "widgets", kind: "Widget" } },
    };
    const widgets = { ...gadgets, plural: "widgets", kind: "Widget" };
    expect(store.create(definitions, definition)).toMatchObject({
      status: { acceptedNames: { plural: "widgets", singular: "widget" }, storedVersions: ["v1"] },
    });
    const ref = { name: "last", namespace: "default" };
    store.create(widgets, { metadata: { ...ref, finalizers: ["example.com/hold"] }, spec: { size: 1 } });
    store.delete(definitions, { name: "widgets.example.com" });
    expect(store.get(definitions, { name: "widgets.example.com" }).metadata.deletionTimestamp).toBeDefined();
    store.patch(widgets, ref, { metadata: { finalizers: null } });
    expect(store.find(definitions, { name: "widgets.example.com" })).toBeUndefined();
    expect(refusal(() => store.list(widgets)).code).toBe(404);
  });
});

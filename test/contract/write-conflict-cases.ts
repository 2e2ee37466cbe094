import { expect } from "vitest";
import { leases } from "../../src/kube/lease-record.ts";
import { nodes } from "../../src/kube/resource.ts";
import { aMap, aNamespace, aPlace, aWidget, maps, unique } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import { refusal, refusedFields } from "./refusal.ts";

export const writeConflictCases: readonly ContractCase[] = [
  {
    title: "create of a name that is taken is already-exists and leaves the first as it was",
    run: async (server) => {
      const first = await aMap(server);
      const { name, namespace = "" } = first.metadata;
      const error = await refusal(server.client.create(maps, { metadata: { name, namespace }, data: { key: "two" } }));
      expect([error.kind, error.status]).toEqual(["already-exists", 409]);
      expect(await server.client.get(maps, first.metadata)).toEqual(first);
      const { widgets, place } = await aWidget(server);
      const again = server.client.create(widgets, { metadata: place, spec: { size: 2 } });
      expect((await refusal(again)).kind).toBe("already-exists");
    },
  },
  {
    title: "replace from a version that is no longer the newest is a conflict",
    run: async (server) => {
      const map = await aMap(server);
      const newer = await server.client.replace(maps, { ...map, data: { key: "two" } });
      expect((await refusal(server.client.replace(maps, { ...map, data: { key: "three" } }))).kind).toBe("conflict");
      expect(await server.client.get(maps, map.metadata)).toEqual(newer);
      const { widgets, widget } = await aWidget(server);
      await server.client.replace(widgets, { ...widget, spec: { size: 2 } });
      const error = await refusal(server.client.replace(widgets, { ...widget, spec: { size: 3 } }));
      expect([error.kind, error.status]).toEqual(["conflict", 409]);
    },
  },
  {
    title: "of ten writers that start from one version exactly one wins",
    run: async (server) => {
      const { widgets, widget } = await aWidget(server);
      const writes = Array.from({ length: 10 }, (_, index) =>
        server.client.replace(widgets, { ...widget, spec: { size: index + 1, label: "x".repeat(index + 1) } }).then(
          () => "won",
          (error: { kind: string }) => error.kind,
        ),
      );
      const outcomes = await Promise.all(writes);
      expect(outcomes.filter((outcome) => outcome === "won")).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === "conflict")).toHaveLength(9);
    },
  },
  {
    title: "replace without a version overwrites a ConfigMap and a Node",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const { name, namespace = "" } = metadata;
      const replaced = await server.client.replace(maps, { metadata: { name, namespace }, data: { key: "two" } });
      expect(replaced.data).toEqual({ key: "two" });
      const node = await server.client.create(nodes, { metadata: { name: unique("node") } });
      const labels = { seen: "yes" };
      const labelled = await server.client.replace(nodes, { metadata: { name: node.metadata.name, labels } });
      expect([labelled.metadata.uid, labelled.metadata.labels]).toEqual([node.metadata.uid, labels]);
    },
  },
  {
    title: "replace of a custom object without a version is invalid and names metadata.resourceVersion",
    run: async (server) => {
      const { widgets, place, widget } = await aWidget(server);
      const error = await refusal(server.client.replace(widgets, { metadata: place, spec: { size: 2 } }));
      expect([error.kind, error.status]).toEqual(["invalid", 422]);
      expect(error.causes).toEqual([
        { field: "metadata.resourceVersion", message: expect.stringContaining("must be specified for an update") },
      ]);
      expect(await server.client.get(widgets, place)).toEqual(widget);
    },
  },
  {
    title: "replace of a Lease without a version is invalid, and PUT creates one that is not there",
    run: async (server) => {
      const metadata = { namespace: await aNamespace(server), name: unique("lease") };
      const created = await server.raw({
        method: "PUT",
        path: `/apis/coordination.k8s.io/v1/namespaces/${metadata.namespace}/leases/${metadata.name}`,
        body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata },
      });
      expect(created.status).toBe(201);
      const fields = await refusedFields(server.client.replace(leases, { metadata, spec: { holderIdentity: "a" } }));
      expect(fields).toEqual(["metadata.resourceVersion"]);
    },
  },
  {
    title: "replace with the uid of another object is a conflict",
    run: async (server) => {
      const map = await aMap(server);
      const { name, namespace = "" } = map.metadata;
      const uid = "11111111-2222-3333-4444-555555555555";
      const error = await refusal(server.client.replace(maps, { metadata: { name, namespace, uid } }));
      expect([error.kind, error.status]).toEqual(["conflict", 409]);
      const { widgets, widget } = await aWidget(server);
      const other = { ...widget, metadata: { ...widget.metadata, uid } };
      expect((await refusal(server.client.replace(widgets, other))).kind).toBe("conflict");
    },
  },
  {
    title: "a body whose name or namespace is not that of the URL is refused as a bad request",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const base = `/api/v1/namespaces/${metadata.namespace}/configmaps`;
      const head = { apiVersion: "v1", kind: "ConfigMap" };
      const renamed = { ...head, metadata: { name: "other", namespace: metadata.namespace } };
      const put = await server.raw({ method: "PUT", path: `${base}/${metadata.name}`, body: renamed });
      expect(put).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
      const moved = { ...head, metadata: { name: "a", namespace: "default" } };
      const post = await server.raw({ method: "POST", path: base, body: moved });
      expect(post).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
    },
  },
  {
    title: "an object with a resourceVersion cannot be created",
    run: async (server) => {
      const place = await aPlace(server);
      const metadata = { ...place, resourceVersion: "1" };
      const error = await refusal(server.client.create(maps, { metadata }));
      expect([error.kind, error.status]).toEqual(["server", 500]);
      expect((await refusal(server.client.get(maps, place))).kind).toBe("not-found");
    },
  },
  {
    title: "delete with another uid than the object's is a conflict, with its own it is done",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const uid = "11111111-2222-3333-4444-555555555555";
      const error = await refusal(server.client.delete(maps, metadata, { uid }));
      expect([error.kind, error.status]).toEqual(["conflict", 409]);
      expect((await server.client.get(maps, metadata)).metadata.uid).toBe(metadata.uid);
      await server.client.delete(maps, metadata, { uid: metadata.uid ?? "" });
      expect((await refusal(server.client.get(maps, metadata))).kind).toBe("not-found");
    },
  },
  {
    title: "delete from a version that is no longer the newest is a conflict, from the newest it is done",
    run: async (server) => {
      const { widgets, widget } = await aWidget(server);
      const newer = await server.client.replace(widgets, { ...widget, spec: { size: 2 } });
      const [old = "", newest = ""] = [widget.metadata.resourceVersion, newer.metadata.resourceVersion];
      const error = await refusal(server.client.delete(widgets, widget.metadata, { resourceVersion: old }));
      expect([error.kind, error.status]).toEqual(["conflict", 409]);
      await server.client.delete(widgets, widget.metadata, { resourceVersion: newest });
      expect((await refusal(server.client.get(widgets, widget.metadata))).kind).toBe("not-found");
    },
  },
];

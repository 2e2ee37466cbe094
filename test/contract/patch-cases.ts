import { expect } from "vitest";
import { nodes } from "../../src/kube/resource.ts";
import { aMap, aWidget, maps, unique } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractServer } from "./contract-server.ts";
import { refusal, refusedFields } from "./refusal.ts";

const jsonPatch = "application/json-patch+json";
const strategic = "application/strategic-merge-patch+json";

async function mapPath(server: ContractServer, data: Readonly<Record<string, string>>): Promise<string> {
  const { metadata } = await aMap(server, data);
  return `/api/v1/namespaces/${metadata.namespace}/configmaps/${metadata.name}`;
}

export const patchCases: readonly ContractCase[] = [
  {
    title: "a merge patch merges maps, replaces lists as a whole and removes what is null",
    run: async (server) => {
      const before = { size: 1, tags: ["a", "b"], options: { keep: "yes", drop: "yes" }, label: "gone" };
      const { widgets, place } = await aWidget(server, before);
      const body = { spec: { tags: ["c"], options: { drop: null, add: "yes" }, label: null, absent: null } };
      const { spec } = await server.client.patch(widgets, place, { body });
      expect(spec).toMatchObject({ size: 1, tags: ["c"], options: { keep: "yes", add: "yes" } });
      expect(spec).not.toHaveProperty("label");
      expect(spec).not.toHaveProperty("options.drop");
    },
  },
  {
    title: "a merge patch of a ConfigMap adds and removes single keys and annotations",
    run: async (server) => {
      const { metadata } = await aMap(server, { one: "1", two: "2" });
      const body = { metadata: { annotations: { a: "1", b: "2" } }, data: { one: null, three: "3" } };
      const first = await server.client.patch(maps, metadata, { body });
      expect([first.data, first.metadata.annotations]).toEqual([
        { two: "2", three: "3" },
        { a: "1", b: "2" },
      ]);
      const second = await server.client.patch(maps, metadata, { body: { metadata: { annotations: { a: null } } } });
      expect(second.metadata.annotations).toEqual({ b: "2" });
    },
  },
  {
    title: "a merge patch that names the newest version is done, an older one is a conflict",
    run: async (server) => {
      const { widgets, widget, place } = await aWidget(server);
      const { resourceVersion } = widget.metadata;
      const body = { metadata: { resourceVersion }, spec: { size: 2 } };
      const changed = await server.client.patch(widgets, place, { body });
      expect(changed.spec).toMatchObject({ size: 2 });
      const error = await refusal(server.client.patch(widgets, place, { body: { ...body, spec: { size: 3 } } }));
      expect([error.kind, error.status]).toEqual(["conflict", 409]);
      expect(await server.client.get(widgets, place)).toEqual(changed);
    },
  },
  {
    title: "a merge patch cannot change the uid, unlike a replace it is told as invalid",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const body = { metadata: { uid: "11111111-2222-3333-4444-555555555555" }, data: { key: "two" } };
      const error = await refusal(server.client.patch(maps, metadata, { body }));
      expect([error.kind, error.status, error.causes[0]?.field]).toEqual(["invalid", 422, "metadata.uid"]);
    },
  },
  {
    title: "a merge patch cannot rename an object",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const error = await refusal(server.client.patch(maps, metadata, { body: { metadata: { name: "other" } } }));
      expect([error.kind, error.status]).toEqual(["invalid", 400]);
      expect((await server.client.get(maps, metadata)).metadata.uid).toBe(metadata.uid);
    },
  },
  {
    title: "a merge patch that breaks the schema is invalid and changes nothing",
    run: async (server) => {
      const { widgets, widget, place } = await aWidget(server);
      const patch = (body: unknown) => server.client.patch(widgets, place, { body });
      expect(await refusedFields(patch({ spec: { size: 99 } }))).toEqual(["spec.size"]);
      expect(await refusedFields(patch({ spec: { size: null } }))).toEqual(["spec.size"]);
      expect(await server.client.get(widgets, place)).toEqual(widget);
    },
  },
  {
    title: "a merge patch without a version does not lose the change of another writer",
    run: async (server) => {
      const { metadata } = await aMap(server, {});
      const writes = Array.from({ length: 8 }, (_, index) =>
        server.client.patch(maps, metadata, { body: { data: { [`key-${index}`]: "set" } } }),
      );
      await Promise.all(writes);
      const { data = {} } = await server.client.get(maps, metadata);
      expect(Object.keys(data).sort()).toEqual(Array.from({ length: 8 }, (_, index) => `key-${index}`));
    },
  },
  {
    title: "a patch that is no JSON object, or of an unknown type, is refused",
    run: async (server) => {
      const path = await mapPath(server, { key: "one" });
      const patch = (contentType: string, body: unknown) => server.raw({ method: "PATCH", path, contentType, body });
      expect((await patch("application/merge-patch+json", "{not json")).status).toBe(400);
      expect((await patch("application/merge-patch+json", [])).status).toBe(400);
      expect((await patch("application/x-other", {})).status).toBe(415);
    },
  },
  {
    title: "a JSON patch adds, replaces, removes and tests",
    run: async (server) => {
      const path = await mapPath(server, { one: "1", two: "2" });
      const operations = [
        { op: "test", path: "/data/one", value: "1" },
        { op: "replace", path: "/data/one", value: "uno" },
        { op: "remove", path: "/data/two" },
        { op: "add", path: "/data/three", value: "3" },
        { op: "add", path: "/metadata/labels", value: { "a.b/c": "d" } },
      ];
      const answer = await server.raw({ method: "PATCH", path, contentType: jsonPatch, body: operations });
      expect(answer).toMatchObject({ status: 200, body: { metadata: { labels: { "a.b/c": "d" } } } });
      expect((answer.body as { data: unknown }).data).toEqual({ one: "uno", three: "3" });
    },
  },
  {
    title: "a JSON patch whose test or path fails is refused as a whole",
    run: async (server) => {
      const path = await mapPath(server, { one: "1" });
      const attempt = async (...operations: readonly unknown[]) =>
        (await server.raw({ method: "PATCH", path, contentType: jsonPatch, body: operations })).status;
      const change = { op: "add", path: "/data/two", value: "2" };
      expect(await attempt(change, { op: "test", path: "/data/one", value: "x" })).toBe(422);
      expect(await attempt(change, { op: "remove", path: "/data/missing" })).toBe(422);
      expect((await server.raw({ path })).body).toMatchObject({ data: { one: "1" } });
    },
  },
  {
    title: "a strategic patch merges a Node's addresses and conditions by their type",
    run: async (server) => {
      const { metadata } = await server.client.create(nodes, { metadata: { name: unique("node") } });
      const path = `/api/v1/nodes/${metadata.name}/status`;
      const patch = (status: unknown) =>
        server.raw({ method: "PATCH", path, contentType: strategic, body: { status } });
      await patch({
        conditions: [
          { type: "Ready", status: "False" },
          { type: "DiskPressure", status: "False" },
        ],
      });
      const answer = await patch({ conditions: [{ type: "Ready", status: "True" }] });
      const { conditions } = (answer.body as { status: { conditions: { type: string; status: string }[] } }).status;
      const seen = conditions.map(({ type, status }) => `${type}=${status}`).sort();
      expect([answer.status, seen]).toEqual([200, ["DiskPressure=False", "Ready=True"]]);
    },
  },
  {
    title: "a strategic patch of a custom object is an unsupported media type",
    run: async (server) => {
      const { place } = await aWidget(server);
      const path = `/apis/contract.example.org/v1/namespaces/${place.namespace}/widgets/${place.name}`;
      const answer = await server.raw({ method: "PATCH", path, contentType: strategic, body: { spec: { size: 2 } } });
      expect(answer).toMatchObject({ status: 415, body: { reason: "UnsupportedMediaType" } });
    },
  },
];

import { expect } from "vitest";
import type { KubeObject } from "../../src/kube/object.ts";
import { nodes } from "../../src/kube/resource.ts";
import { aMap, aNamespace, aPlace, aWidget, maps, namesOf, unique, widgetPlace } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import { refusal } from "./refusal.ts";

const uid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const crudCases: readonly ContractCase[] = [
  {
    title: "a created object has an identity, a version and a time, and is read back as it was answered",
    run: async (server) => {
      const place = await aPlace(server);
      const created = await server.client.create(maps, { metadata: place, data: { key: "one" } });
      expect(created).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", metadata: place, data: { key: "one" } });
      expect(created.metadata.uid).toMatch(uid);
      expect(created.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
      expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(await server.client.get(maps, place)).toEqual(created);
    },
  },
  {
    title: "an object of the cluster needs no namespace",
    run: async (server) => {
      const name = unique("node");
      const created = await server.client.create(nodes, { metadata: { name, labels: { of: name } } });
      expect(created.metadata.namespace).toBeUndefined();
      expect(namesOf(await server.client.list(nodes, { labelSelector: `of=${name}` }))).toEqual([name]);
    },
  },
  {
    title: "what only the server may say is not taken from the creator",
    run: async (server) => {
      const { widgets, place } = await widgetPlace(server);
      const claimed = {
        uid: "11111111-2222-3333-4444-555555555555",
        generation: 7,
        creationTimestamp: "2001-01-01T00:00:00Z",
        deletionTimestamp: "2001-01-01T00:00:00Z",
      };
      const widget = { metadata: { ...place, ...claimed }, spec: { size: 1 } };
      const { metadata } = await server.client.create(widgets, widget);
      expect(metadata.uid).not.toBe(claimed.uid);
      expect(metadata.creationTimestamp).not.toBe(claimed.creationTimestamp);
      expect([metadata.generation, metadata.deletionTimestamp]).toEqual([1, undefined]);
    },
  },
  {
    title: "generateName gives each object a name of its own with that prefix",
    run: async (server) => {
      const namespace = await aNamespace(server);
      const create = () =>
        server.client.create(maps, { metadata: { generateName: "made-", namespace } as KubeObject["metadata"] });
      const [first, second] = [await create(), await create()];
      expect(first.metadata.name).toMatch(/^made-[a-z0-9]{5}$/);
      expect(first.metadata.generateName).toBe("made-");
      expect(second.metadata.name).not.toBe(first.metadata.name);
    },
  },
  {
    title: "replace stores the whole object and drops what it does not say",
    run: async (server) => {
      const { metadata } = await aMap(server, { key: "one", other: "two" });
      const replaced = await server.client.replace(maps, { metadata, data: { key: "three" } });
      expect(replaced.data).toEqual({ key: "three" });
      expect(replaced.metadata.uid).toBe(metadata.uid);
      expect(replaced.metadata.creationTimestamp).toBe(metadata.creationTimestamp);
      expect(replaced.metadata.resourceVersion).not.toBe(metadata.resourceVersion);
      expect(await server.client.get(maps, metadata)).toEqual(replaced);
    },
  },
  {
    title: "a deleted object is not found, and another one of its name has another uid",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const { name, namespace = "" } = metadata;
      await server.client.delete(maps, metadata);
      expect((await refusal(server.client.get(maps, metadata))).kind).toBe("not-found");
      const again = await server.client.create(maps, { metadata: { name, namespace } });
      expect(again.metadata.uid).not.toBe(metadata.uid);
    },
  },
  {
    title: "a deletion answers with a Status that names the object",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const { widget } = await aWidget(server);
      const map = await server.raw({ method: "DELETE", path: mapPath(metadata) });
      const path = `/apis/contract.example.org/v1/namespaces/${widget.metadata.namespace}/widgets/${widget.metadata.name}`;
      const custom = await server.raw({ method: "DELETE", path });
      expect(map).toMatchObject({
        status: 200,
        body: {
          kind: "Status",
          status: "Success",
          details: { name: metadata.name, kind: "configmaps", uid: metadata.uid },
        },
      });
      expect(custom).toMatchObject({
        status: 200,
        body: { kind: "Status", details: { group: "contract.example.org", kind: "widgets", uid: widget.metadata.uid } },
      });
    },
  },
  {
    title: "items of a built-in list carry no kind of their own, custom ones do",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const { widgets, widget } = await aWidget(server);
      const [map] = (await server.client.list(maps, { namespace: metadata.namespace ?? "" })).items;
      const [custom] = (await server.client.list(widgets, { namespace: widget.metadata.namespace ?? "" })).items;
      expect([map?.metadata.name, map?.kind, map?.apiVersion]).toEqual([metadata.name, undefined, undefined]);
      expect([custom?.kind, custom?.apiVersion]).toEqual(["Widget", "contract.example.org/v1"]);
    },
  },
  {
    title: "a dry run is checked and answered, and nothing is stored",
    run: async (server) => {
      const { namespace, name } = await aPlace(server);
      const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
      const answer = await server.raw({ method: "POST", path, body });
      expect(answer).toMatchObject({ status: 201, body: { metadata: { name } } });
      expect((await refusal(server.client.get(maps, { namespace, name }))).kind).toBe("not-found");
      const bad = await server.raw({ method: "POST", path, body: { ...body, metadata: { name: "Not_Valid" } } });
      expect(bad.status).toBe(422);
    },
  },
  {
    title: "all objects of a namespace that a selector matches can be deleted at once",
    run: async (server) => {
      const namespace = await aNamespace(server);
      for (const name of ["a", "b", "c"]) {
        const labels = { keep: name === "b" ? "yes" : "no" };
        await server.client.create(maps, { metadata: { name, namespace, labels } });
      }
      const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=keep%3Dno`;
      const answer = await server.raw({ method: "DELETE", path });
      expect(answer).toMatchObject({ status: 200, body: { kind: "ConfigMapList" } });
      expect(namesOf({ items: (answer.body as { items: KubeObject[] }).items })).toEqual(["a", "c"]);
      const left = await server.client.list(maps, { namespace, fieldSelector: "metadata.name!=kube-root-ca.crt" });
      expect(namesOf(left)).toEqual(["b"]);
    },
  },
];

function mapPath({ namespace, name }: KubeObject["metadata"]): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

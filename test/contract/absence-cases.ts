import { expect } from "vitest";
import type { KubeClient } from "../../src/kube/client.ts";
import type { Verb } from "../../src/kube/errors.ts";
import type { KubeObject, ObjectRef } from "../../src/kube/object.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { nodes } from "../../src/kube/resource.ts";
import { aNamespace, maps, unique, widgetPlace } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractServer } from "./contract-server.ts";
import { refusal } from "./refusal.ts";

type Attempt = (client: KubeClient, resource: Resource, ref: ObjectRef) => Promise<unknown>;

/** Every verb of our client, on one object or its collection. */
export const attempts: Readonly<Record<Verb, Attempt>> = {
  get: (client, resource, ref) => client.get(resource, ref),
  list: (client, resource, { namespace = "" }) => client.list(resource, { namespace }),
  watch: (client, resource, { namespace = "" }) =>
    client.watch(resource, { namespace, resourceVersion: "0", timeoutSeconds: 1, signal: AbortSignal.timeout(20_000) }),
  create: (client, resource, ref) => client.create(resource, { metadata: { ...ref } }),
  replace: (client, resource, ref) => client.replace(resource, { metadata: { ...ref } }),
  patch: (client, resource, ref) => client.patch(resource, ref, { body: { metadata: { labels: { a: "b" } } } }),
  delete: (client, resource, ref) => client.delete(resource, ref),
};

export const verbs = Object.keys(attempts) as readonly Verb[];

const onOneObject: readonly Verb[] = ["get", "replace", "patch", "delete"];
const nowhere: Resource = {
  group: "nowhere.example.org",
  version: "v1",
  plural: "ghosts",
  kind: "Ghost",
  namespaced: true,
};
const wrongVersion: Resource = { ...maps, version: "v7" };

export const absenceCases: readonly ContractCase[] = [
  ...onOneObject.map((verb) => ({
    title: `${verb} of an object that does not exist is not found`,
    run: async (server: ContractServer) => {
      const { widgets, place } = await widgetPlace(server);
      const versioned = { ...place, resourceVersion: "1" } as ObjectRef;
      for (const resource of [maps, widgets]) {
        const error = await refusal(attempts[verb](server.client, resource, versioned));
        expect([error.kind, error.status, error.verb]).toEqual(["not-found", 404, verb]);
      }
      const node = await refusal(attempts[verb](server.client, nodes, { name: place.name }));
      expect([node.kind, node.status, node.resource]).toEqual(["not-found", 404, "nodes"]);
    },
  })),
  ...verbs.map((verb) => ({
    title: `${verb} of a resource that is not served is not found`,
    run: async (server: ContractServer) => {
      for (const resource of [nowhere, wrongVersion]) {
        const ref = { name: unique("ghost"), namespace: "default" };
        const error = await refusal(attempts[verb](server.client, resource, ref));
        expect([error.kind, error.status, error.verb]).toEqual(["not-found", 404, verb]);
      }
    },
  })),
  {
    title: "create in a namespace that does not exist is not found, and says it of the namespace",
    run: async (server) => {
      const namespace = unique("missing");
      const { widgets } = await widgetPlace(server);
      expect((await refusal(server.client.create(maps, { metadata: { name: "a", namespace } }))).kind).toBe(
        "not-found",
      );
      const custom = { metadata: { name: "a", namespace }, spec: { size: 1 } };
      expect((await refusal(server.client.create(widgets, custom))).kind).toBe("not-found");
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
      expect((await server.raw({ method: "POST", path, body })).body).toMatchObject({
        kind: "Status",
        reason: "NotFound",
        message: `namespaces "${namespace}" not found`,
        details: { name: namespace, kind: "namespaces" },
      });
    },
  },
  {
    title: "a list in a namespace that does not exist is empty and has a version",
    run: async (server) => {
      const { widgets } = await widgetPlace(server);
      for (const resource of [maps, widgets]) {
        const list = await server.client.list(resource, { namespace: unique("missing") });
        expect(list.items).toEqual([]);
        expect(list.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
      }
    },
  },
  {
    title: "the refusal of a missing object names its resource, group and name",
    run: async (server) => {
      const { place } = await widgetPlace(server);
      const path = `/apis/contract.example.org/v1/namespaces/${place.namespace}/widgets/${place.name}`;
      expect(await server.raw({ path })).toMatchObject({
        status: 404,
        body: {
          kind: "Status",
          apiVersion: "v1",
          status: "Failure",
          reason: "NotFound",
          code: 404,
          message: `widgets.contract.example.org "${place.name}" not found`,
          details: { name: place.name, group: "contract.example.org", kind: "widgets" },
        },
      });
    },
  },
  {
    title: "a PUT of a ConfigMap or a custom object that does not exist creates nothing",
    run: async (server) => {
      const { widgets, place } = await widgetPlace(server);
      const bare: KubeObject = { metadata: place };
      expect((await refusal(server.client.replace(maps, bare))).kind).toBe("not-found");
      const custom = { metadata: { ...place, resourceVersion: "1" }, spec: { size: 1 } };
      expect((await refusal(server.client.replace(widgets, custom))).kind).toBe("not-found");
      const listed = await server.client.list(maps, {
        namespace: await aNamespace(server),
        fieldSelector: `metadata.name=${place.name}`,
      });
      expect(listed.items).toEqual([]);
    },
  },
];

import { expect } from "vitest";
import { aMap, aPlace, widgetPlace } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import { contractGroup } from "./widget-definition.ts";

export const protocolCases: readonly ContractCase[] = [
  {
    title: "a body that is no JSON, or of another kind than the URL, is a bad request",
    run: async (server) => {
      const { namespace, name } = await aPlace(server);
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const post = async (body: unknown) => (await server.raw({ method: "POST", path, body })).status;
      expect(await post("{not json")).toBe(400);
      expect(await post({ apiVersion: "v1", kind: "Secret", metadata: { name } })).toBe(400);
      expect(await post({ apiVersion: "v2", kind: "ConfigMap", metadata: { name } })).toBe(400);
      expect(await post({ metadata: { name } })).toBe(201);
    },
  },
  {
    title: "a custom object whose body lacks its kind is a bad request",
    run: async (server) => {
      const { place } = await widgetPlace(server);
      const path = `/apis/${contractGroup}/v1/namespaces/${place.namespace}/widgets`;
      const body = { metadata: { name: place.name }, spec: { size: 1 } };
      expect((await server.raw({ method: "POST", path, body })).status).toBe(400);
    },
  },
  {
    title: "a method that a path does not have is not allowed",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const collection = `/api/v1/namespaces/${metadata.namespace}/configmaps`;
      const post = await server.raw({ method: "POST", path: `${collection}/${metadata.name}`, body: {} });
      const put = await server.raw({ method: "PUT", path: collection, body: {} });
      expect([post.status, put.status]).toEqual([405, 405]);
      expect(post.body).toMatchObject({ kind: "Status", reason: "MethodNotAllowed", code: 405 });
    },
  },
  {
    title: "an answer in a form that the server does not have is not acceptable",
    run: async (server) => {
      const answer = await server.raw({ path: "/api/v1/namespaces", accept: "text/x-unknown" });
      expect(answer).toMatchObject({ status: 406, body: { kind: "Status", reason: "NotAcceptable" } });
    },
  },
  {
    title: "a body of an unknown type is an unsupported media type",
    run: async (server) => {
      const { namespace } = await aPlace(server);
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const answer = await server.raw({ method: "POST", path, body: "a: b", contentType: "text/x-unknown" });
      expect(answer).toMatchObject({ status: 415, body: { kind: "Status", reason: "UnsupportedMediaType" } });
    },
  },
  {
    title: "a body of more than three mebibytes is too large",
    run: async (server) => {
      const { namespace, name } = await aPlace(server);
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const answer = await server.raw({
        method: "POST",
        path,
        body: { metadata: { name }, data: { a: "x".repeat(3_200_000) } },
      });
      expect(answer.status).toBe(413);
    },
  },
  {
    title: "the server says its version and that it is ready",
    run: async (server) => {
      const version = await server.raw({ path: "/version" });
      expect(version).toMatchObject({
        status: 200,
        body: { major: "1", gitVersion: expect.stringMatching(/^v1\.\d+\./) },
      });
      for (const path of ["/healthz", "/livez", "/readyz"]) {
        expect(await server.raw({ path })).toMatchObject({ status: 200, body: "ok" });
      }
    },
  },
  {
    title: "the discovery documents name the groups, versions and resources that are served",
    run: async (server) => {
      await widgetPlace(server);
      const { body: core } = await server.raw({ path: "/api/v1" });
      expect(core).toMatchObject({ kind: "APIResourceList", groupVersion: "v1" });
      const nodes = (core as ResourceList).resources.find(({ name }) => name === "nodes");
      expect(nodes).toMatchObject({ kind: "Node", namespaced: false, shortNames: ["no"] });
      expect(nodes?.verbs).toEqual(
        expect.arrayContaining(["get", "list", "watch", "create", "update", "patch", "delete"]),
      );
      const { body: own } = await server.raw({ path: `/apis/${contractGroup}/v1` });
      const names = (own as ResourceList).resources.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["widgets", "widgets/status"]));
      const { body: groups } = await server.raw({ path: "/apis" });
      expect((groups as { groups: { name: string }[] }).groups.map(({ name }) => name)).toEqual(
        expect.arrayContaining([contractGroup, "apiextensions.k8s.io", "coordination.k8s.io", "events.k8s.io"]),
      );
    },
  },
  {
    title: "a path that leads nowhere is not found",
    run: async (server) => {
      for (const path of ["/nowhere", "/api/v1/ghosts", `/apis/${contractGroup}/v7`]) {
        expect([path, (await server.raw({ path })).status]).toEqual([path, 404]);
      }
    },
  },
];

interface ResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
}

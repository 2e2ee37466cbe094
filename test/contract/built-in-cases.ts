import { expect } from "vitest";
import type { KubeObject } from "../../src/kube/object.ts";
import { namespaces } from "../../src/kube/resource.ts";
import { eventually } from "../support/eventually.ts";
import { aMap, aNamespace, aPlace, type ConfigMapObject, maps, secrets, widgetPlace } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import { refusal, refusedFields } from "./refusal.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");

export const builtInCases: readonly ContractCase[] = [
  {
    title: "the text data of a Secret is stored as base64 over its data, and not shown",
    run: async (server) => {
      const metadata = await aPlace(server);
      const data = { kept: base64("kept"), both: base64("lost") };
      const secret = await server.client.create(secrets, { metadata, data, stringData: { both: "won", text: "€" } });
      expect(secret.data).toEqual({ kept: base64("kept"), both: base64("won"), text: base64("€") });
      expect([secret.stringData, secret.type]).toEqual([undefined, "Opaque"]);
      expect(await server.client.get(secrets, metadata)).toEqual(secret);
      const patched = await server.client.patch(secrets, metadata, { body: { stringData: { text: "new" } } });
      expect(patched.data).toEqual({ ...secret.data, text: base64("new") });
    },
  },
  {
    title: "Secret data that is no base64, or no text, is refused as a bad request",
    run: async (server) => {
      const metadata = await aPlace(server);
      for (const value of ["not base64!", 7 as unknown as string]) {
        const error = await refusal(server.client.create(secrets, { metadata, data: { key: value } }));
        expect([error.kind, error.status]).toEqual(["invalid", 400]);
      }
      const map = server.client.create(maps, { metadata, data: { key: 7 as unknown as string } });
      expect((await refusal(map)).status).toBe(400);
    },
  },
  {
    title: "the type of a Secret cannot change, nor the data of an immutable one",
    run: async (server) => {
      const metadata = await aPlace(server);
      await server.client.create(secrets, { metadata, data: { key: base64("one") }, immutable: true });
      const patch = (body: unknown) => server.client.patch(secrets, metadata, { body });
      expect(await refusedFields(patch({ type: "example.org/other" }))).toEqual(["type"]);
      expect(await refusedFields(patch({ data: { key: base64("two") } }))).toEqual(["data"]);
    },
  },
  {
    title: "data that is no map of texts is refused, and an immutable ConfigMap stays as it is",
    run: async (server) => {
      const metadata = await aPlace(server);
      const list = server.client.create(maps, { metadata, data: [] as unknown as ConfigMapObject["data"] & {} });
      expect((await refusal(list)).status).toBe(400);
      await server.client.create(maps, { metadata, data: { key: "one" }, immutable: true });
      const patch = (body: unknown) => server.client.patch(maps, metadata, { body });
      expect(await refusedFields(patch({ data: { key: "two" } }))).toEqual(["data"]);
      expect(await refusedFields(patch({ immutable: null }))).toEqual(["immutable"]);
      expect((await patch({ metadata: { labels: { a: "b" } } })).metadata.labels).toEqual({ a: "b" });
    },
  },
  {
    title: "a data key that is no file name is refused, and the key is named",
    run: async (server) => {
      const metadata = await aPlace(server);
      const create = server.client.create(maps, { metadata, data: { "not/a/key": "x" } });
      expect(await refusedFields(create)).toEqual(["data[not/a/key]"]);
    },
  },
  {
    title: "names that are none are refused, and metadata.name is named",
    run: async (server) => {
      const { widgets, place } = await widgetPlace(server);
      for (const name of ["Upper", "under_score", "-dash", "a".repeat(254), "dot..dot"]) {
        const metadata = { ...place, name };
        expect(await refusedFields(server.client.create(maps, { metadata }))).toEqual(["metadata.name"]);
        const custom = server.client.create(widgets, { metadata, spec: { size: 1 } });
        expect(await refusedFields(custom)).toEqual(["metadata.name"]);
      }
      const nameless = server.client.create(maps, { metadata: { ...place, name: "" } });
      expect(await refusedFields(nameless)).toEqual(["metadata.name"]);
    },
  },
  {
    title: "labels and annotations that are none are refused, and their place is named",
    run: async (server) => {
      const place = await aPlace(server);
      const create = (metadata: Partial<KubeObject["metadata"]>) =>
        server.client.create(maps, { metadata: { ...place, ...metadata } });
      expect(await refusedFields(create({ labels: { "a b": "x" } }))).toEqual(["metadata.labels"]);
      expect(await refusedFields(create({ labels: { a: "not a value" } }))).toEqual(["metadata.labels"]);
      expect(await refusedFields(create({ labels: { a: "x".repeat(64) } }))).toEqual(["metadata.labels"]);
      expect(await refusedFields(create({ annotations: { "a/b/c": "x" } }))).toEqual(["metadata.annotations"]);
      const numbers = create({ labels: { a: 1 as unknown as string } });
      expect((await refusal(numbers)).status).toBe(400);
    },
  },
  {
    title: "a namespace is active, carries its name as a label, and its name has no dots",
    run: async (server) => {
      const name = await aNamespace(server);
      expect(await server.client.get(namespaces, { name })).toMatchObject({
        metadata: { labels: { "kubernetes.io/metadata.name": name } },
        spec: { finalizers: ["kubernetes"] },
        status: { phase: "Active" },
      });
      const dotted = server.client.create(namespaces, { metadata: { name: "a.b" } });
      expect(await refusedFields(dotted)).toEqual(["metadata.name"]);
    },
  },
  {
    title: "the namespace default is there and may not be deleted",
    run: async (server) => {
      const error = await refusal(server.client.delete(namespaces, { name: "default" }));
      expect([error.kind, error.status]).toEqual(["forbidden", 403]);
      expect(await server.client.get(namespaces, { name: "default" })).toMatchObject({ status: { phase: "Active" } });
    },
  },
  {
    title: "all namespaces at once cannot be deleted",
    run: async (server) => {
      expect((await server.raw({ method: "DELETE", path: "/api/v1/namespaces" })).status).toBe(405);
    },
  },
  {
    title: "a namespace with a finalizer of its own is emptied, and goes when that is taken away",
    waits: true,
    run: async (server) => {
      const { metadata } = await aMap(server);
      const ref = { name: metadata.namespace ?? "" };
      const finalizers = ["contract.example.org/hold"];
      await server.client.patch(namespaces, ref, { body: { metadata: { finalizers } } });
      await server.client.delete(namespaces, ref);
      await eventually(async () => {
        expect((await refusal(server.client.get(maps, metadata))).kind).toBe("not-found");
      });
      const held = await server.client.get(namespaces, ref);
      expect(held).toMatchObject({ metadata: { finalizers }, status: { phase: "Terminating" } });
      await server.client.patch(namespaces, ref, { body: { metadata: { finalizers: null } } });
      await eventually(async () => {
        expect((await refusal(server.client.get(namespaces, ref))).kind).toBe("not-found");
      });
    },
  },
  {
    title: "a namespace that ends takes no new content and goes with its last object",
    waits: true,
    run: async (server) => {
      const { metadata } = await aMap(server);
      const { namespace = "" } = metadata;
      const finalizers = ["contract.example.org/hold"];
      await server.client.patch(maps, metadata, { body: { metadata: { finalizers } } });
      await server.client.delete(namespaces, { name: namespace });
      expect(await server.client.get(namespaces, { name: namespace })).toMatchObject({
        status: { phase: "Terminating" },
      });
      const error = await refusal(server.client.create(secrets, { metadata: { name: "late", namespace } }));
      expect([error.kind, error.status]).toEqual(["forbidden", 403]);
      await eventually(async () => {
        const held = await server.client.get(maps, metadata);
        if (!held.metadata.deletionTimestamp) throw new Error("the content is not being deleted");
      });
      await server.client.patch(maps, metadata, { body: { metadata: { finalizers: null } } });
      await eventually(async () => {
        expect((await refusal(server.client.get(namespaces, { name: namespace }))).kind).toBe("not-found");
      });
    },
  },
];

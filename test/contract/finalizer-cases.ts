import { expect } from "vitest";
import { aMap, aPlace, maps, widgetPlace } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractServer } from "./contract-server.ts";
import { refusal, refusedFields } from "./refusal.ts";
import { firstChanges, told, versionNow } from "./watching.ts";

const finalizer = "contract.example.org/hold";

async function heldWidget(server: ContractServer) {
  const { widgets, place } = await widgetPlace(server);
  const metadata = { ...place, finalizers: [finalizer] };
  const widget = await server.client.create(widgets, { metadata, spec: { size: 1 } });
  return { widgets, place, widget };
}

export const finalizerCases: readonly ContractCase[] = [
  {
    title: "delete of an object with a finalizer marks it and leaves it",
    run: async (server) => {
      const { widgets, place, widget } = await heldWidget(server);
      await server.client.delete(widgets, place);
      const marked = await server.client.get(widgets, place);
      expect(marked.metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(marked.metadata).toMatchObject({ uid: widget.metadata.uid, finalizers: [finalizer], generation: 2 });
      expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 0 });
    },
  },
  {
    title: "the answer of such a delete is the marked object",
    run: async (server) => {
      const { place } = await heldWidget(server);
      const path = `/apis/contract.example.org/v1/namespaces/${place.namespace}/widgets/${place.name}`;
      const answer = await server.raw({ method: "DELETE", path });
      expect(answer).toMatchObject({ status: 200, body: { kind: "Widget", metadata: { finalizers: [finalizer] } } });
      expect(answer.body).toHaveProperty("metadata.deletionTimestamp");
    },
  },
  {
    title: "the object goes when the last finalizer is taken away",
    run: async (server) => {
      const { widgets, place } = await heldWidget(server);
      await server.client.delete(widgets, place);
      await server.client.patch(widgets, place, { body: { metadata: { finalizers: null } } });
      expect((await refusal(server.client.get(widgets, place))).kind).toBe("not-found");
    },
  },
  {
    title: "the watch of such an end tells the mark as a change and then the deletion",
    run: async (server) => {
      const { widgets, place } = await heldWidget(server);
      const resourceVersion = await versionNow(server, widgets);
      const { namespace } = place;
      await server.client.delete(widgets, place);
      const marked = await server.client.get(widgets, place);
      await server.client.replace(widgets, { ...marked, metadata: { ...marked.metadata, finalizers: [] } });
      const changes = await firstChanges(server, { resource: widgets, resourceVersion, namespace }, 2);
      expect(told(changes)).toEqual([`MODIFIED ${place.name}`, `DELETED ${place.name}`]);
      expect(changes[1]?.object.metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp);
    },
  },
  {
    title: "a second delete changes nothing",
    run: async (server) => {
      const { widgets, place } = await heldWidget(server);
      await server.client.delete(widgets, place);
      const first = await server.client.get(widgets, place);
      await server.client.delete(widgets, place);
      expect(await server.client.get(widgets, place)).toEqual(first);
    },
  },
  {
    title: "a new finalizer on an object that is being deleted is refused, and its mark stays",
    run: async (server) => {
      const { widgets, place } = await heldWidget(server);
      await server.client.delete(widgets, place);
      const body = { metadata: { finalizers: [finalizer, "contract.example.org/late"] } };
      expect(await refusedFields(server.client.patch(widgets, place, { body }))).toEqual(["metadata.finalizers"]);
      const unmarked = await server.client.patch(widgets, place, { body: { metadata: { deletionTimestamp: null } } });
      expect(unmarked.metadata.deletionTimestamp).toBeDefined();
    },
  },
  {
    title: "the spec of an object that is being deleted can still change",
    run: async (server) => {
      const { widgets, place } = await heldWidget(server);
      await server.client.delete(widgets, place);
      const changed = await server.client.patch(widgets, place, { body: { spec: { size: 5 } } });
      expect(changed.spec).toMatchObject({ size: 5 });
      expect(changed.metadata.generation).toBe(3);
    },
  },
  {
    title: "a finalizer that is no qualified name is refused",
    run: async (server) => {
      const place = await aPlace(server);
      const error = await refusal(server.client.create(maps, { metadata: { ...place, finalizers: ["not a name"] } }));
      expect(error.kind).toBe("invalid");
      expect(error.causes.map(({ field }) => field)).toContain("metadata.finalizers");
    },
  },
  {
    title: "a finalizer taken away before the delete holds nothing",
    run: async (server) => {
      const { metadata } = await aMap(server);
      await server.client.patch(maps, metadata, { body: { metadata: { finalizers: [finalizer] } } });
      await server.client.patch(maps, metadata, { body: { metadata: { finalizers: [] } } });
      await server.client.delete(maps, metadata);
      expect((await refusal(server.client.get(maps, metadata))).kind).toBe("not-found");
    },
  },
];

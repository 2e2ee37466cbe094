import { expect } from "vitest";
import { nodes } from "../../src/kube/resource.ts";
import { aWidget, unique, widgetPlace } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import { refusal, refusedFields } from "./refusal.ts";
import { firstChanges, versionNow } from "./watching.ts";
import { gadgetDefinition } from "./widget-definition.ts";

const status = { subresource: "status" } as const;

export const statusCases: readonly ContractCase[] = [
  {
    title: "a status given at creation is dropped where there is a status subresource",
    run: async (server) => {
      const { widgets, place } = await widgetPlace(server);
      const widget = { metadata: place, spec: { size: 1 }, status: { phase: "Ready" } };
      expect(await server.client.create(widgets, widget)).not.toHaveProperty("status");
    },
  },
  {
    title: "without the subresource a status is a field like any other, and /status is not found",
    run: async (server) => {
      const gadgets = await server.kind(gadgetDefinition());
      const metadata = { name: unique("gadget") };
      const gadget = await server.client.create(gadgets, { metadata, status: { phase: "Ready" } });
      expect(gadget.status).toEqual({ phase: "Ready" });
      const changed = await server.client.patch(gadgets, metadata, { body: { status: { observed: 1 } } });
      expect([changed.status, changed.metadata.generation]).toEqual([{ phase: "Ready", observed: 1 }, 2]);
      const error = await refusal(server.client.patch(gadgets, metadata, { ...status, body: { status: {} } }));
      expect([error.kind, error.status]).toEqual(["not-found", 404]);
    },
  },
  {
    title: "replace through the main endpoint leaves the status as it was",
    run: async (server) => {
      const { widgets, widget } = await aWidget(server);
      const ready = await server.client.patch(widgets, widget.metadata, {
        ...status,
        body: { status: { phase: "Ready" } },
      });
      const replaced = await server.client.replace(widgets, {
        ...ready,
        spec: { size: 2 },
        status: { phase: "Pending" },
      });
      expect([replaced.spec, replaced.status]).toEqual([expect.objectContaining({ size: 2 }), { phase: "Ready" }]);
    },
  },
  {
    title: "replace of the status leaves spec and metadata of a custom object as they were",
    run: async (server) => {
      const { widgets, widget } = await aWidget(server);
      const metadata = {
        ...widget.metadata,
        labels: { a: "b" },
        annotations: { a: "b" },
        finalizers: ["a.example.org/b"],
      };
      const written = { ...widget, metadata, spec: { size: 9 }, status: { phase: "Ready", observed: 1 } };
      const ready = await server.client.replace(widgets, written, status);
      expect(ready.status).toEqual({ phase: "Ready", observed: 1 });
      expect(ready.spec).toEqual(widget.spec);
      const { labels, annotations, finalizers, generation } = ready.metadata;
      expect([labels, annotations, finalizers, generation]).toEqual([undefined, undefined, undefined, 1]);
    },
  },
  {
    title: "a merge patch of the status changes what it names and nothing else",
    run: async (server) => {
      const { widgets, widget } = await aWidget(server);
      const patch = (body: unknown) => server.client.patch(widgets, widget.metadata, { ...status, body });
      await patch({ status: { phase: "Ready", observed: 1 } });
      const changed = await patch({ spec: { size: 9 }, status: { observed: 2 } });
      expect([changed.spec, changed.status]).toEqual([widget.spec, { phase: "Ready", observed: 2 }]);
    },
  },
  {
    title: "a status is checked against the schema, and the refusal names its field",
    run: async (server) => {
      const { widgets, widget } = await aWidget(server);
      // The oldest servers leave the first step of the path out.
      const refusedIn = async (body: unknown) => {
        const fields = await refusedFields(server.client.patch(widgets, widget.metadata, { ...status, body }));
        return fields.map((field) => field.replace(/^status\./, ""));
      };
      expect(await refusedIn({ status: { phase: "Broken" } })).toEqual(["phase"]);
      expect(await refusedIn({ status: { observed: "one" } })).toEqual(["observed"]);
    },
  },
  {
    title: "a status from a version that is no longer the newest is a conflict",
    run: async (server) => {
      const { widgets, widget } = await aWidget(server);
      await server.client.patch(widgets, widget.metadata, { body: { spec: { size: 2 } } });
      const error = await refusal(server.client.replace(widgets, { ...widget, status: { phase: "Ready" } }, status));
      expect([error.kind, error.status]).toEqual(["conflict", 409]);
    },
  },
  {
    title: "the status of an object that does not exist is not found",
    run: async (server) => {
      const { widgets, place } = await widgetPlace(server);
      const metadata = { ...place, resourceVersion: "1" };
      const put = server.client.replace(widgets, { metadata, spec: { size: 1 }, status: {} }, status);
      expect((await refusal(put)).kind).toBe("not-found");
      const patch = server.client.patch(widgets, place, { ...status, body: { status: {} } });
      expect((await refusal(patch)).kind).toBe("not-found");
    },
  },
  {
    title: "a status that does not change writes nothing and tells no watch",
    run: async (server) => {
      const { widgets, widget, place } = await aWidget(server);
      const body = { status: { phase: "Ready" } };
      const ready = await server.client.patch(widgets, widget.metadata, { ...status, body });
      const resourceVersion = await versionNow(server, widgets);
      expect(await server.client.patch(widgets, widget.metadata, { ...status, body })).toEqual(ready);
      await server.client.patch(widgets, widget.metadata, { ...status, body: { status: { phase: "Pending" } } });
      const { namespace } = place;
      const [change] = await firstChanges(server, { resource: widgets, resourceVersion, namespace }, 1);
      expect([change?.type, change?.object.status]).toEqual(["MODIFIED", { phase: "Pending" }]);
    },
  },
  {
    title: "the main endpoint of a Node keeps its status, /status changes status and annotations but not the spec",
    run: async (server) => {
      const metadata = { name: unique("node") };
      const address = { type: "ExternalIP", address: "203.0.113.7" };
      const created = await server.client.create(nodes, {
        metadata,
        status: { addresses: [address] },
      } as typeof nodes.__object & {});
      expect(created).toMatchObject({ status: { addresses: [address] } });
      const body = { spec: { unschedulable: true }, status: { addresses: null } };
      const main = await server.client.patch(nodes, metadata, { body });
      expect(main).toMatchObject({ spec: { unschedulable: true }, status: { addresses: [address] } });
      const other = { ...address, address: "203.0.113.8" };
      const change = {
        metadata: { annotations: { a: "b" } },
        spec: { unschedulable: null },
        status: { addresses: [other] },
      };
      const viaStatus = await server.client.patch(nodes, metadata, { ...status, body: change });
      expect(viaStatus).toMatchObject({ spec: { unschedulable: true }, status: { addresses: [other] } });
      expect(viaStatus.metadata.annotations).toMatchObject({ a: "b" });
    },
  },
];

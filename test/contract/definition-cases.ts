import { expect } from "vitest";
import { type CrdObject, customResourceDefinitions, isEstablished } from "../../src/api/crd.ts";
import { eventually } from "../support/eventually.ts";
import { aNamespace, aWidget, namesOf, unique } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractServer } from "./contract-server.ts";
import { refusal, refusedFields } from "./refusal.ts";
import { contractGroup, gadgetDefinition, ownDefinition, widgetDefinition } from "./widget-definition.ts";

const integer = { type: "integer" };

/** A definition with another spec than the one that is right. */
function changed(definition: CrdObject, change: Readonly<Record<string, unknown>>): CrdObject {
  return { ...definition, spec: { ...(definition.spec as object), ...change } };
}

function withSchema(definition: CrdObject, openAPIV3Schema: unknown): CrdObject {
  return changed(definition, { versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }] });
}

const looseFields: readonly (readonly [title: string, field: unknown, place: string])[] = [
  ["a list whose items are not said", { type: "array" }, "items"],
  ["a type that there is not", { type: "odd" }, "type"],
  ["a default that it refuses itself", { type: "integer", default: "one" }, "default"],
  ["a default with fields it does not know", { type: "object", default: { odd: 1 } }, "default"],
  ["a pattern that is none", { type: "string", pattern: "(" }, "pattern"],
];

export const definitionCases: readonly ContractCase[] = [
  {
    title: "a definition becomes established, with the names that it left out filled in",
    run: async (server) => {
      await server.kind(widgetDefinition());
      const live = await server.client.get(customResourceDefinitions, { name: `widgets.${contractGroup}` });
      expect(isEstablished(live)).toBe(true);
      expect(live.spec).toMatchObject({
        conversion: { strategy: "None" },
        names: { kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList" },
      });
      expect(live.status).toMatchObject({ acceptedNames: { kind: "Widget" }, storedVersions: ["v1"] });
    },
  },
  {
    title: "a definition whose name is not plural.group is refused",
    run: async (server) => {
      const definition = ownDefinition({ size: integer });
      const named = { ...definition, metadata: { name: `others.${contractGroup}` } };
      expect(await refusedFields(server.client.create(customResourceDefinitions, named))).toEqual(["metadata.name"]);
    },
  },
  {
    title: "a definition whose schema is not structural is refused, and the place is named",
    run: async (server) => {
      const definition = ownDefinition({});
      const untyped = withSchema(definition, {
        type: "object",
        properties: { spec: { properties: { size: integer } } },
      });
      expect(await refusedFields(server.client.create(customResourceDefinitions, untyped))).toEqual([
        "spec.validation.openAPIV3Schema.properties[spec].type",
      ]);
    },
  },
  ...looseFields.map(([title, field, place]) => ({
    title: `a definition with ${title} is refused, and the place is named`,
    run: async (server: ContractServer) => {
      const loose = ownDefinition({ loose: field });
      const root = "spec.validation.openAPIV3Schema.properties[spec].properties[loose]";
      expect(await refusedFields(server.client.create(customResourceDefinitions, loose))).toEqual([`${root}.${place}`]);
    },
  })),
  {
    title: "a definition with a column that is none is refused",
    run: async (server) => {
      const definition = ownDefinition({});
      const [version] = (definition.spec as { versions: object[] }).versions;
      const columned = (column: unknown) =>
        changed(definition, { versions: [{ ...version, additionalPrinterColumns: [column] }] });
      const create = (column: unknown) => server.client.create(customResourceDefinitions, columned(column));
      const place = "spec.additionalPrinterColumns[0]";
      expect(await refusedFields(create({ name: "A", type: "string" }))).toEqual([`${place}.JSONPath`]);
      expect(await refusedFields(create({ name: "A", type: "odd", jsonPath: ".a" }))).toEqual([`${place}.type`]);
    },
  },
  {
    title: "a definition without a schema, or without a storage version, is refused",
    run: async (server) => {
      const definition = ownDefinition({});
      const bare = changed(definition, { versions: [{ name: "v1", served: true, storage: true }] });
      expect(await refusedFields(server.client.create(customResourceDefinitions, bare))).toContain(
        "spec.versions[0].schema.openAPIV3Schema",
      );
      const schema = { openAPIV3Schema: { type: "object" } };
      const unstored = changed(definition, { versions: [{ name: "v1", served: true, storage: false, schema }] });
      expect(await refusedFields(server.client.create(customResourceDefinitions, unstored))).toContain("spec.versions");
    },
  },
  {
    title: "a replace of a definition from an old version is a conflict",
    run: async (server) => {
      const definition = ownDefinition({ size: integer });
      await server.kind(definition);
      const live = await server.client.get(customResourceDefinitions, definition.metadata);
      const labels = { seen: "yes" };
      await server.client.patch(customResourceDefinitions, definition.metadata, { body: { metadata: { labels } } });
      expect((await refusal(server.client.replace(customResourceDefinitions, live))).kind).toBe("conflict");
    },
  },
  {
    title: "a field that is added to the schema of a definition is kept from then on",
    waits: true,
    run: async (server) => {
      const definition = ownDefinition({ size: integer });
      const growing = await server.kind(definition);
      const namespace = await aNamespace(server);
      const create = (name: string) =>
        server.client.create(growing, { metadata: { name, namespace }, spec: { size: 1, weight: 2 } });
      expect((await create("before")).spec).toEqual({ size: 1 });
      await eventually(async () => {
        const live = await server.client.get(customResourceDefinitions, definition.metadata);
        const properties = { spec: { type: "object", properties: { size: integer, weight: integer } } };
        const grown = withSchema(live, { type: "object", properties });
        await server.client.replace(customResourceDefinitions, grown);
      });
      await eventually(async () => {
        const { spec } = await create(unique("after"));
        if (!spec || !("weight" in spec)) throw new Error("the new schema is not in force yet");
        expect(spec).toEqual({ size: 1, weight: 2 });
      });
    },
  },
  {
    title: "a kind that is served in two versions shows the same objects in both",
    run: async (server) => {
      const gadgets = await server.kind(gadgetDefinition());
      const name = unique("gadget");
      const created = await server.client.create(gadgets, { metadata: { name }, spec: { any: "thing" } });
      const older = { ...gadgets, version: "v1beta1" };
      const seen = await eventually(() => server.client.get(older, { name }));
      expect(seen).toMatchObject({ apiVersion: `${contractGroup}/v1beta1`, spec: { any: "thing" } });
      expect(seen.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    },
  },
  {
    title: "a deleted definition takes its objects along and its kind is not found any more",
    waits: true,
    run: async (server) => {
      const definition = ownDefinition({ size: integer });
      const passing = await server.kind(definition);
      const namespace = await aNamespace(server);
      await server.client.create(passing, { metadata: { name: "a", namespace }, spec: { size: 1 } });
      await server.client.delete(customResourceDefinitions, definition.metadata);
      await eventually(async () => {
        const error = await refusal(server.client.get(customResourceDefinitions, definition.metadata));
        expect(error.kind).toBe("not-found");
      });
      const error = await eventually(() => refusal(server.client.list(passing, { namespace })));
      expect([error.kind, error.status]).toEqual(["not-found", 404]);
    },
  },
  {
    title: "a custom kind is listed with its items as a table of its own columns",
    run: async (server) => {
      const { widgets, widget, place } = await aWidget(server, { size: 4 });
      const body = { status: { phase: "Ready" } };
      await server.client.patch(widgets, place, { subresource: "status", body });
      const path = `/apis/${contractGroup}/v1/namespaces/${place.namespace}/widgets`;
      const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
      const table = (await server.raw({ path, accept })).body as Table;
      expect([table.kind, table.apiVersion]).toEqual(["Table", "meta.k8s.io/v1"]);
      expect(table.columnDefinitions.map(({ name, type, priority }) => [name, type, priority])).toEqual([
        ["Name", "string", 0],
        ["Size", "integer", 0],
        ["Phase", "string", 0],
        ["Colour", "string", 1],
      ]);
      expect(table.rows.map(({ cells }) => cells)).toEqual([[place.name, 4, "Ready", "red"]]);
      expect(table.rows[0]?.object).toMatchObject({
        kind: "PartialObjectMetadata",
        metadata: { name: place.name, uid: widget.metadata.uid },
      });
    },
  },
  {
    title: "an empty value of a column is null, and one object can be a table too",
    run: async (server) => {
      const { place } = await aWidget(server, { size: 4 });
      const path = `/apis/${contractGroup}/v1/namespaces/${place.namespace}/widgets/${place.name}`;
      const table = (await server.raw({ path, accept: "application/json;as=Table;v=v1;g=meta.k8s.io" })).body as Table;
      expect(table.rows.map(({ cells }) => cells)).toEqual([[place.name, 4, null, "red"]]);
    },
  },
  {
    title: "a list can be asked for as metadata alone",
    run: async (server) => {
      const { place } = await aWidget(server);
      const path = `/apis/${contractGroup}/v1/namespaces/${place.namespace}/widgets`;
      const accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
      const { body } = await server.raw({ path, accept });
      expect(body).toMatchObject({ kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" });
      const { items } = body as { items: CrdObject[] };
      expect([namesOf({ items }), items[0]?.spec]).toEqual([[place.name], undefined]);
    },
  },
];

interface Table {
  readonly kind: string;
  readonly apiVersion: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly type: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: unknown }[];
}

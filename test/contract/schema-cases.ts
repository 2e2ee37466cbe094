import { expect } from "vitest";
import { aWidget, widgetPlace } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractServer } from "./contract-server.ts";
import { refusal, refusedFields } from "./refusal.ts";

type Spec = Readonly<Record<string, unknown>>;

const refused: readonly (readonly [title: string, spec: Spec, fields: readonly string[]])[] = [
  ["a required field that is missing", {}, ["spec.size"]],
  ["a text where an integer belongs", { size: "one" }, ["spec.size"]],
  ["a fraction where an integer belongs", { size: 1.5 }, ["spec.size"]],
  ["a number below the minimum", { size: 0 }, ["spec.size"]],
  ["a number above the maximum", { size: 11 }, ["spec.size"]],
  ["a value that is not in the enumeration", { size: 1, colour: "pink" }, ["spec.colour"]],
  ["a text that does not match the pattern", { size: 1, label: "UPPER" }, ["spec.label"]],
  ["a text that is too long", { size: 1, label: "abcdefghijk" }, ["spec.label"]],
  ["a list that is too short", { size: 1, names: [] }, ["spec.names"]],
  ["a list that is too long", { size: 1, names: ["a", "b", "c", "d"] }, ["spec.names"]],
  ["an object where a list belongs", { size: 1, names: {} }, ["spec.names"]],
  ["an item of the wrong type", { size: 1, names: ["a", 2] }, ["spec.names[1]"]],
  ["a field of an item out of its range", { size: 1, ports: [{ name: "a", port: 70000 }] }, ["spec.ports[0].port"]],
  ["a required field of an item that is missing", { size: 1, ports: [{ name: "a" }] }, ["spec.ports[0].port"]],
  [
    "two items with the same key",
    {
      size: 1,
      ports: [
        { name: "a", port: 1 },
        { name: "b", port: 2 },
        { name: "a", port: 3 },
      ],
    },
    ["spec.ports[2]"],
  ],
  ["a set with the same value twice", { size: 1, tags: ["a", "b", "a"] }, ["spec.tags[2]"]],
  ["a map value of the wrong type", { size: 1, options: { good: "yes", bad: 1 } }, ["spec.options.bad"]],
  ["a number where a boolean belongs", { size: 1, enabled: 1 }, ["spec.enabled"]],
  ["a time that is none", { size: 1, when: "yesterday" }, ["spec.when"]],
  ["a boolean where an integer or a text belongs", { size: 1, amount: true }, ["spec.amount"]],
  ["several faults at once", { size: 99, colour: "pink", names: [] }, ["spec.colour", "spec.names", "spec.size"]],
];

export const schemaCases: readonly ContractCase[] = [
  ...refused.map(([title, spec, fields]) => ({
    title: `a custom object with ${title} is refused, and the field is named`,
    run: async (server: ContractServer) => {
      const { widgets, place } = await widgetPlace(server);
      expect(await refusedFields(server.client.create(widgets, { metadata: place, spec }))).toEqual(fields);
      expect((await refusal(server.client.get(widgets, place))).kind).toBe("not-found");
    },
  })),
  {
    title: "a replace that breaks the schema is invalid and changes nothing",
    run: async (server) => {
      const { widgets, widget, place } = await aWidget(server);
      const error = await refusal(server.client.replace(widgets, { ...widget, spec: { size: 11 } }));
      expect([error.kind, error.status, error.causes.map(({ field }) => field)]).toEqual([
        "invalid",
        422,
        ["spec.size"],
      ]);
      expect(await server.client.get(widgets, place)).toEqual(widget);
    },
  },
  {
    title: "the causes of a refusal say in words what is wrong",
    run: async (server) => {
      const { widgets, place } = await widgetPlace(server);
      const spec = {
        size: 11,
        colour: "pink",
        ports: [
          { name: "a", port: 1 },
          { name: "a", port: 2 },
        ],
      };
      const { causes } = await refusal(server.client.create(widgets, { metadata: place, spec }));
      expect(causes.toSorted((a, b) => (a.field < b.field ? -1 : 1))).toEqual([
        { field: "spec.colour", message: 'Unsupported value: "pink": supported values: "red", "green", "blue"' },
        { field: "spec.ports[1]", message: expect.stringMatching(/^Duplicate value: .*{"name":"a"}$/) },
        { field: "spec.size", message: expect.stringMatching(/^Invalid value: .*should be less than or equal to 10$/) },
      ]);
    },
  },
  {
    title: "a body of values that the schema allows is stored as it is",
    run: async (server) => {
      const spec = {
        size: 10,
        colour: "blue",
        label: "abc",
        names: ["b", "a"],
        tags: ["y", "x"],
        ports: [{ name: "b", port: 2, protocol: "UDP" }],
        options: { one: "1" },
        nested: { mode: "off", depth: -3 },
        filled: { level: 0 },
        enabled: false,
        ratio: 0.25,
        when: "2024-02-29T12:00:00Z",
        amount: "50%",
      };
      expect((await aWidget(server, spec)).widget.spec).toEqual(spec);
    },
  },
  {
    title: "defaults are filled in, but not inside what is absent",
    run: async (server) => {
      const { widget } = await aWidget(server, { size: 1 });
      expect(widget.spec).toEqual({ size: 1, colour: "red", filled: { level: 3 } });
    },
  },
  {
    title: "defaults are filled in inside objects and items that are there",
    run: async (server) => {
      const { widget } = await aWidget(server, { size: 1, nested: {}, ports: [{ name: "a", port: 1 }], filled: {} });
      expect(widget.spec).toMatchObject({
        nested: { mode: "auto" },
        ports: [{ name: "a", port: 1, protocol: "TCP" }],
        filled: { level: 3 },
      });
    },
  },
  {
    title: "a default comes back when the field is removed or null",
    run: async (server) => {
      const { widgets, widget, place } = await aWidget(server, { size: 1, colour: "blue" });
      const patched = await server.client.patch(widgets, place, { body: { spec: { colour: null } } });
      expect(patched.spec).toMatchObject({ colour: "red" });
      const { resourceVersion } = patched.metadata;
      const metadata = { ...widget.metadata, resourceVersion: resourceVersion ?? "" };
      const replaced = await server.client.replace(widgets, { ...widget, metadata, spec: { size: 1, colour: null } });
      expect(replaced.spec).toMatchObject({ colour: "red" });
    },
  },
  {
    title: "a null is kept where it is allowed and dropped where it is not",
    run: async (server) => {
      const { widget } = await aWidget(server, { size: 1, note: null, label: null });
      expect(widget.spec).toMatchObject({ note: null });
      expect(widget.spec).not.toHaveProperty("label");
    },
  },
  {
    title: "fields that the schema does not know are dropped at every depth",
    run: async (server) => {
      const ports = [{ name: "a", port: 1, extra: 1 }];
      const { widgets, place } = await widgetPlace(server);
      const body = { metadata: place, spec: { size: 1, extra: 1, nested: { extra: 1 }, ports }, extra: 1 };
      const widget = await server.client.create(widgets, body);
      expect(widget).not.toHaveProperty("extra");
      expect(widget.spec).toEqual({
        size: 1,
        colour: "red",
        filled: { level: 3 },
        nested: { mode: "auto" },
        ports: [{ name: "a", port: 1, protocol: "TCP" }],
      });
    },
  },
  {
    title: "an object that preserves unknown fields keeps them, nested ones too",
    run: async (server) => {
      const free = { any: { thing: [1, "two", { three: true }] }, other: null };
      expect((await aWidget(server, { size: 1, free })).widget.spec).toMatchObject({ free });
    },
  },
  {
    title: "a number that is an integer in all but its writing is one",
    run: async (server) => {
      const { place } = await widgetPlace(server);
      const path = `/apis/contract.example.org/v1/namespaces/${place.namespace}/widgets`;
      const metadata = JSON.stringify({ name: place.name });
      const body = `{"apiVersion":"contract.example.org/v1","kind":"Widget","metadata":${metadata},"spec":{"size":2.0}}`;
      expect(await server.raw({ method: "POST", path, body })).toMatchObject({
        status: 201,
        body: { spec: { size: 2 } },
      });
    },
  },
  {
    title: "strict field validation refuses what would be dropped, the usual one warns",
    run: async (server) => {
      const { place } = await widgetPlace(server);
      const path = `/apis/contract.example.org/v1/namespaces/${place.namespace}/widgets`;
      const body = {
        apiVersion: "contract.example.org/v1",
        kind: "Widget",
        metadata: { name: place.name },
        spec: { size: 1, extra: 1 },
      };
      const strict = await server.raw({ method: "POST", path: `${path}?fieldValidation=Strict`, body });
      expect(strict).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
      expect((strict.body as { message: string }).message).toContain('unknown field "spec.extra"');
      const warned = await server.raw({ method: "POST", path: `${path}?fieldValidation=Warn`, body });
      expect([warned.status, warned.headers.warning]).toEqual([201, '299 - "unknown field \\"spec.extra\\""']);
    },
  },
];

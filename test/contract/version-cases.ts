import { expect } from "vitest";
import { compareVersions } from "../../src/kube/resource-version.ts";
import { aMap, aWidget, maps } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";

const labelled = (labels: Readonly<Record<string, string>>) => ({ body: { metadata: { labels } } });

export const versionCases: readonly ContractCase[] = [
  {
    title: "versions grow with every change, of whatever object of a resource",
    run: async (server) => {
      const first = await aMap(server);
      const second = await aMap(server);
      const changed = await server.client.patch(maps, first.metadata, { body: { data: { key: "two" } } });
      const versions = [first, second, changed].map(({ metadata }) => metadata.resourceVersion ?? "");
      expect(versions.toSorted(compareVersions)).toEqual(versions);
      expect(new Set(versions).size).toBe(3);
    },
  },
  {
    title: "a replace that changes nothing keeps the version",
    run: async (server) => {
      const map = await aMap(server);
      const { widgets, widget } = await aWidget(server, { size: 1, tags: ["a"] });
      expect(await server.client.replace(maps, map)).toEqual(map);
      expect(await server.client.replace(widgets, widget)).toEqual(widget);
    },
  },
  {
    title: "a patch that changes nothing keeps the version",
    run: async (server) => {
      const map = await aMap(server);
      const { widgets, widget } = await aWidget(server);
      expect(await server.client.patch(maps, map.metadata, { body: { data: { key: "one" } } })).toEqual(map);
      expect(
        await server.client.patch(widgets, widget.metadata, { body: { spec: { size: 1, absent: null } } }),
      ).toEqual(widget);
    },
  },
  {
    title: "a custom object begins with generation 1 and a change of its spec makes the next",
    run: async (server) => {
      const { widgets, widget } = await aWidget(server);
      const changed = await server.client.patch(widgets, widget.metadata, { body: { spec: { size: 2 } } });
      expect([widget.metadata.generation, changed.metadata.generation]).toEqual([1, 2]);
    },
  },
  {
    title: "labels, annotations and status do not change the generation",
    run: async (server) => {
      const { widgets, widget } = await aWidget(server);
      const { metadata } = widget;
      const marked = await server.client.patch(widgets, metadata, labelled({ a: "b" }));
      const noted = await server.client.patch(widgets, metadata, { body: { metadata: { annotations: { a: "b" } } } });
      const body = { status: { phase: "Ready" } };
      const ready = await server.client.patch(widgets, metadata, { subresource: "status", body });
      expect([marked, noted, ready].map((object) => object.metadata.generation)).toEqual([1, 1, 1]);
      expect(ready.metadata.resourceVersion).not.toBe(metadata.resourceVersion);
    },
  },
  {
    title: "a generation that the writer invents is not taken",
    run: async (server) => {
      const { widgets, widget } = await aWidget(server);
      const metadata = { ...widget.metadata, generation: 42 };
      const same = await server.client.replace(widgets, { ...widget, metadata });
      expect(same.metadata.generation).toBe(1);
      const changed = await server.client.replace(widgets, { ...widget, metadata, spec: { size: 3 } });
      expect(changed.metadata.generation).toBe(2);
    },
  },
  {
    title: "a ConfigMap has no generation, before and after a change",
    run: async (server) => {
      const map = await aMap(server);
      const changed = await server.client.replace(maps, { ...map, data: { key: "two" } });
      expect([map.metadata.generation, changed.metadata.generation]).toEqual([undefined, undefined]);
    },
  },
];

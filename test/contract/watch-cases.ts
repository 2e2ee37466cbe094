import { expect } from "vitest";
import { compareVersions } from "../../src/kube/resource-version.ts";
import { aMap, aNamespace, aWidget, maps, secrets, unique, widgetPlace } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import { refusal } from "./refusal.ts";
import { firstChanges, told, versionNow, wholeWatch } from "./watching.ts";

const never = () => AbortSignal.timeout(60_000);

export const watchCases: readonly ContractCase[] = [
  {
    title: "a watch tells what is added, changed and deleted after its version, in order",
    run: async (server) => {
      const { widgets, place } = await widgetPlace(server);
      const { namespace } = place;
      const resourceVersion = await versionNow(server, widgets);
      await server.client.create(widgets, { metadata: { name: "a", namespace }, spec: { size: 1 } });
      await server.client.create(widgets, { metadata: { name: "b", namespace }, spec: { size: 1 } });
      await server.client.patch(widgets, { name: "a", namespace }, { body: { spec: { size: 2 } } });
      await server.client.delete(widgets, { name: "b", namespace });
      const changes = await firstChanges(server, { resource: widgets, resourceVersion, namespace }, 4);
      expect(told(changes)).toEqual(["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"]);
      const versions = changes.map((change) => change.resourceVersion);
      expect(versions.toSorted(compareVersions)).toEqual(versions);
      expect(new Set(versions).size).toBe(4);
    },
  },
  {
    title: "an open watch tells what happens while it is open",
    run: async (server) => {
      const namespace = await aNamespace(server);
      const resourceVersion = await versionNow(server, secrets);
      const changes = firstChanges(server, { resource: secrets, resourceVersion, namespace }, 2);
      const { metadata } = await server.client.create(secrets, { metadata: { name: "late", namespace } });
      await server.client.delete(secrets, metadata);
      expect(told(await changes)).toEqual(["ADDED late", "DELETED late"]);
    },
  },
  {
    title: "an event has the object as a get would answer it",
    run: async (server) => {
      const resourceVersion = await versionNow(server, maps);
      const map = await aMap(server);
      const { namespace = "", name } = map.metadata;
      const watched = { resource: maps, resourceVersion, namespace, fieldSelector: `metadata.name=${name}` };
      const [change] = await firstChanges(server, watched, 1);
      expect(change).toEqual({ type: "ADDED", object: map, resourceVersion: map.metadata.resourceVersion });
    },
  },
  {
    title: "the event of a deletion has the last state with the version of the deletion",
    run: async (server) => {
      const { widgets, widget, place } = await aWidget(server, { size: 7 });
      const resourceVersion = await versionNow(server, widgets);
      await server.client.delete(widgets, place);
      const { namespace } = place;
      const [change] = await firstChanges(server, { resource: widgets, resourceVersion, namespace }, 1);
      expect([change?.type, change?.object.spec]).toEqual(["DELETED", widget.spec]);
      expect(change?.object.metadata.uid).toBe(widget.metadata.uid);
      expect(compareVersions(change?.resourceVersion ?? "", widget.metadata.resourceVersion ?? "")).toBeGreaterThan(0);
    },
  },
  {
    title: "a watch from version 0 begins with what is there",
    run: async (server) => {
      const namespace = await aNamespace(server);
      const { metadata } = await server.client.create(secrets, { metadata: { name: "a-old", namespace } });
      await server.client.list(secrets, { namespace, resourceVersion: metadata.resourceVersion ?? "" });
      const changes = firstChanges(server, { resource: secrets, resourceVersion: "0", namespace }, 2);
      await server.client.create(secrets, { metadata: { name: "b-new", namespace } });
      expect(told(await changes)).toEqual(["ADDED a-old", "ADDED b-new"]);
    },
  },
  {
    title: "a watch without a version begins with what is there",
    run: async (server) => {
      const namespace = await aNamespace(server);
      await server.client.create(secrets, { metadata: { name: "a-old", namespace } });
      const changes = firstChanges(server, { resource: secrets, resourceVersion: "", namespace }, 2);
      await server.client.create(secrets, { metadata: { name: "b-new", namespace } });
      expect(told(await changes)).toEqual(["ADDED a-old", "ADDED b-new"]);
    },
  },
  {
    title: "a watch resumed from its last event repeats nothing and misses nothing",
    run: async (server) => {
      const namespace = await aNamespace(server);
      const resourceVersion = await versionNow(server, secrets);
      for (const name of ["a", "b", "c", "d"]) await server.client.create(secrets, { metadata: { name, namespace } });
      const first = await firstChanges(server, { resource: secrets, resourceVersion, namespace }, 2);
      const from = first[1]?.resourceVersion ?? "";
      const rest = await firstChanges(server, { resource: secrets, resourceVersion: from, namespace }, 2);
      expect([told(first), told(rest)]).toEqual([
        ["ADDED a", "ADDED b"],
        ["ADDED c", "ADDED d"],
      ]);
    },
  },
  {
    title: "a write that changes nothing is not told",
    run: async (server) => {
      const { widgets, widget, place } = await aWidget(server);
      const resourceVersion = await versionNow(server, widgets);
      await server.client.replace(widgets, widget);
      await server.client.patch(widgets, place, { body: { spec: { size: 1 } } });
      await server.client.patch(widgets, place, { body: { spec: { size: 2 } } });
      const { namespace } = place;
      const [change] = await firstChanges(server, { resource: widgets, resourceVersion, namespace }, 1);
      expect(change?.object.spec).toMatchObject({ size: 2 });
    },
  },
  {
    title: "a watch of a namespace is silent about the others, one of all namespaces is not",
    run: async (server) => {
      const { widgets } = await widgetPlace(server);
      const [here, there] = [await aNamespace(server), await aNamespace(server)];
      const resourceVersion = await versionNow(server, widgets);
      for (const namespace of [there, here]) {
        const metadata = { name: `in-${namespace}`, namespace, labels: { at: here } };
        await server.client.create(widgets, { metadata, spec: { size: 1 } });
      }
      const local = await firstChanges(server, { resource: widgets, resourceVersion, namespace: here }, 1);
      const all = await firstChanges(server, { resource: widgets, resourceVersion, labelSelector: `at=${here}` }, 2);
      expect([told(local), told(all)]).toEqual([[`ADDED in-${here}`], [`ADDED in-${there}`, `ADDED in-${here}`]]);
    },
  },
  {
    title: "a watch with a label selector tells an object that begins to match as added, one that ceases as deleted",
    run: async (server) => {
      const { widgets, place } = await aWidget(server);
      const { namespace } = place;
      const resourceVersion = await versionNow(server, widgets);
      const label = (team: string | null) =>
        server.client.patch(widgets, place, { body: { metadata: { labels: { team } } } });
      await label("blue");
      await server.client.patch(widgets, place, { body: { spec: { size: 2 } } });
      const last = await label("red");
      await label("blue");
      await server.client.delete(widgets, place);
      const watched = { resource: widgets, resourceVersion, namespace, labelSelector: "team=blue" };
      const changes = await firstChanges(server, watched, 5);
      expect(changes.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"]);
      expect(changes[2]?.object.metadata.labels).toEqual({ team: "blue" });
      expect(changes[2]?.resourceVersion).toBe(last.metadata.resourceVersion);
    },
  },
  {
    title: "a watch of one name tells of that object only",
    run: async (server) => {
      const namespace = await aNamespace(server);
      const resourceVersion = await versionNow(server, secrets);
      for (const name of ["other", "wanted"]) await server.client.create(secrets, { metadata: { name, namespace } });
      const watched = { resource: secrets, resourceVersion, namespace, fieldSelector: "metadata.name=wanted" };
      expect(told(await firstChanges(server, watched, 1))).toEqual(["ADDED wanted"]);
    },
  },
  {
    title: "a watch ends cleanly after the time that was asked for",
    waits: true,
    run: async (server) => {
      const namespace = await aNamespace(server);
      const resourceVersion = await versionNow(server, secrets);
      const events = await wholeWatch(server, { resource: secrets, resourceVersion, namespace, timeoutSeconds: 1 });
      expect(events.filter(({ type }) => type !== "BOOKMARK")).toEqual([]);
    },
  },
  {
    title: "a bookmark before the end takes an idle watch past the changes of others",
    waits: true,
    run: async (server) => {
      const namespace = await aNamespace(server);
      const start = await versionNow(server, secrets);
      const watched = { resource: secrets, namespace, fieldSelector: "metadata.name=wanted" };
      const watch = wholeWatch(server, { ...watched, resourceVersion: start, timeoutSeconds: 4 });
      const other = await server.client.create(secrets, { metadata: { name: "other", namespace } });
      const events = await watch;
      expect(events.map(({ type }) => type)).toContain("BOOKMARK");
      const mark = events.at(-1)?.resourceVersion ?? "";
      expect(compareVersions(mark, other.metadata.resourceVersion ?? "")).toBeGreaterThanOrEqual(0);
      const changes = firstChanges(server, { ...watched, resourceVersion: mark }, 1);
      await server.client.create(secrets, { metadata: { name: "wanted", namespace } });
      expect(told(await changes)).toEqual(["ADDED wanted"]);
    },
  },
  {
    title: "a watch that did not ask for bookmarks gets none",
    waits: true,
    run: async (server) => {
      const namespace = await aNamespace(server);
      const resourceVersion = await versionNow(server, secrets);
      const query = `watch=1&timeoutSeconds=3&resourceVersion=${resourceVersion}`;
      const { status, body } = await server.raw({ path: `/api/v1/namespaces/${namespace}/secrets?${query}` });
      expect([status, body]).toEqual([200, ""]);
    },
  },
  {
    title: "a watch from a version before the server's memory is gone, inside the stream",
    run: async (server) => {
      const { widgets, place } = await aWidget(server);
      await server.forgetHistory();
      const { namespace } = place;
      const watch = firstChanges(server, { resource: widgets, resourceVersion: "1", namespace }, 1);
      expect((await refusal(watch)).kind).toBe("gone");
      const path = `/apis/contract.example.org/v1/namespaces/${namespace}/widgets`;
      const { status, body } = await server.raw({ path: `${path}?watch=1&timeoutSeconds=5&resourceVersion=1` });
      expect([status, body]).toEqual([
        200,
        { type: "ERROR", object: expect.objectContaining({ kind: "Status", code: 410, reason: "Expired" }) },
      ]);
    },
  },
  {
    title: "a watch from a version that does not exist yet stays silent, without a bookmark of an older one",
    waits: true,
    run: async (server) => {
      const namespace = await aNamespace(server);
      await server.client.create(secrets, { metadata: { name: "old", namespace } });
      const watched = { resource: secrets, namespace, resourceVersion: "1000000000000" };
      const watch = wholeWatch(server, { ...watched, timeoutSeconds: 4 });
      await server.client.create(secrets, { metadata: { name: "new", namespace } });
      expect(await watch).toEqual([]);
    },
  },
  {
    title: "a watch from a version that is no number is refused",
    run: async (server) => {
      const options = { namespace: "default", resourceVersion: "nonsense", timeoutSeconds: 5, signal: never() };
      const error = await refusal(server.client.watch(maps, options));
      expect([error.kind, error.verb, error.status]).toEqual(["server", "watch", 500]);
    },
  },
  {
    title: "a watch with a selector that cannot be read is refused before it begins",
    run: async (server) => {
      const options = { namespace: "default", resourceVersion: "0", timeoutSeconds: 5, signal: never() };
      for (const selector of [{ labelSelector: "team=(" }, { fieldSelector: "data.key=one" }]) {
        const error = await refusal(server.client.watch(secrets, { ...options, ...selector }));
        expect([error.kind, error.verb, error.status]).toEqual(["invalid", "watch", 400]);
      }
    },
  },
  {
    title: "two watches of one thing are told the same",
    run: async (server) => {
      const { widgets, place } = await widgetPlace(server);
      const { namespace } = place;
      const resourceVersion = await versionNow(server, widgets);
      const watched = { resource: widgets, resourceVersion, namespace };
      const both = Promise.all([firstChanges(server, watched, 3), firstChanges(server, watched, 3)]);
      const name = unique("widget");
      await server.client.create(widgets, { metadata: { name, namespace }, spec: { size: 1 } });
      await server.client.patch(widgets, { name, namespace }, { body: { spec: { size: 2 } } });
      await server.client.delete(widgets, { name, namespace });
      const [one, two] = await both;
      expect(told(one)).toEqual([`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`]);
      expect(two).toEqual(one);
    },
  },
];

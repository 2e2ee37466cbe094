import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type RawWatch, watch } from "../../test/sandbox/raw-client.ts";
import { configMaps, namespaces } from "../kube/resource.ts";
import { type Sandbox, type SandboxCluster, startSandbox } from "./sandbox.ts";

const path = "/api/v1/namespaces/default/configmaps";

describe("a watch", () => {
  let sandbox: Sandbox;
  let cluster: SandboxCluster;
  const watches: RawWatch[] = [];

  beforeAll(async () => {
    sandbox = await startSandbox({ clusters: ["watched"], bookmarkEveryMs: 50, historyLimit: 100 });
    cluster = sandbox.cluster("watched");
  });
  afterEach(() => {
    for (const open of watches.splice(0)) open.close();
    for (const { metadata } of cluster.store.list(configMaps)) cluster.store.delete(configMaps, metadata);
  });
  afterAll(() => sandbox.stop());

  const open = async (query = `resourceVersion=${cluster.store.resourceVersion}`): Promise<RawWatch> => {
    const opened = await watch(cluster, `${path}?watch=1&${query}`);
    watches.push(opened);
    return opened;
  };
  const create = (name: string, labels: Readonly<Record<string, string>> = {}): void => {
    cluster.store.create(configMaps, { metadata: { name, namespace: "default", labels } });
  };
  const shown = ({ events }: RawWatch): string[] =>
    events.map((event) => `${event.type} ${event.object.metadata?.name ?? ""}`);

  it("tells of every change in order, with rising versions", async () => {
    const opened = await open();
    create("a");
    cluster.store.patch(configMaps, { name: "a", namespace: "default" }, { metadata: { labels: { x: "1" } } });
    cluster.store.delete(configMaps, { name: "a", namespace: "default" });
    await opened.until(({ events }) => events.length === 3);
    expect(shown(opened)).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
    const versions = opened.events.map((event) => Number(event.object.metadata?.resourceVersion));
    expect(versions).toEqual(versions.toSorted((left, right) => left - right));
    expect(versions.at(-1)).toBe(Number(cluster.store.resourceVersion));
  });

  it("sees an object come and go as it starts and stops to match", async () => {
    const opened = await open(`resourceVersion=${cluster.store.resourceVersion}&labelSelector=x%3D1`);
    create("a", { x: "2" });
    const ref = { name: "a", namespace: "default" };
    cluster.store.patch(configMaps, ref, { metadata: { labels: { x: "1" } } });
    cluster.store.patch(configMaps, ref, { metadata: { labels: { x: "3" } } });
    await opened.until(({ events }) => events.length === 2);
    expect(shown(opened)).toEqual(["ADDED a", "DELETED a"]);
    expect(opened.events[1]?.object.metadata).toMatchObject({
      labels: { x: "1" },
      resourceVersion: cluster.store.resourceVersion,
    });
  });

  it("gets bookmarks that move with changes elsewhere", async () => {
    const opened = await open(`resourceVersion=${cluster.store.resourceVersion}&allowWatchBookmarks=true`);
    cluster.store.create(namespaces, { metadata: { name: "elsewhere" } });
    const { resourceVersion } = cluster.store;
    await opened.until(({ events }) =>
      events.some((event) => event.object.metadata?.resourceVersion === resourceVersion),
    );
    expect(opened.events.at(-1)?.type).toBe("BOOKMARK");
  });

  it("marks the end of the initial state when it is asked to", async () => {
    create("a");
    const opened = await open("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
    await opened.until(({ events }) => events.length >= 2);
    expect(shown(opened)[0]).toBe("ADDED a");
    expect(opened.events[1]?.object.metadata).toMatchObject({ annotations: { "k8s.io/initial-events-end": "true" } });
  });

  it("ends by itself when its time is over", async () => {
    const opened = await open("timeoutSeconds=1");
    await opened.until(({ state }) => state === "ended");
  });

  it("is told that its version is too old after a compaction, inside the stream", async () => {
    const { resourceVersion } = cluster.store;
    cluster.compact();
    const opened = await open(`resourceVersion=${resourceVersion}`);
    await opened.until(({ state }) => state === "ended");
    expect(opened.code).toBe(200);
    expect(opened.events).toMatchObject([{ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } }]);
  });

  it("goes on after a compaction from the version of a new list", async () => {
    cluster.compact();
    const opened = await open();
    create("a");
    await opened.until(({ events }) => events.length === 1);
  });

  it("cannot resume from before the history that is kept", async () => {
    const { resourceVersion } = cluster.store;
    for (let index = 0; index < 250; index += 1) create(`many-${index}`);
    const opened = await open(`resourceVersion=${resourceVersion}`);
    await opened.until(({ state }) => state === "ended");
    expect(opened.events.at(0)?.type).toBe("ERROR");
  });

  it("that is open misses nothing of a burst longer than the history", async () => {
    const opened = await open();
    for (let index = 0; index < 1000; index += 1) create(`burst-${index}`);
    await opened.until(({ events }) => events.length === 1000);
    expect(shown(opened).at(-1)).toBe("ADDED burst-999");
  });

  it("whose client reads slowly gets everything in the end", async () => {
    const opened = await open();
    opened.pause();
    const data = { text: "x".repeat(20_000) };
    for (let index = 0; index < 300; index += 1) {
      cluster.store.create(configMaps, { metadata: { name: `big-${index}`, namespace: "default" }, ...{ data } });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(opened.events.length).toBeLessThan(300);
    opened.resume();
    await opened.until(({ events }) => events.length === 300);
  });

  it("is cut when all watches are cut, and counted while it is open", async () => {
    const opened = await open();
    expect(cluster.requests.openWatches({ resource: "configmaps" })).toBe(1);
    cluster.cutWatches();
    await opened.until(({ state }) => state === "broken");
    expect(cluster.requests.openWatches()).toBe(0);
  });
});

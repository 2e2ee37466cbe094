import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { call, eventually, mergePatch, type RawWatch, watch } from "../../test/sandbox/raw-client.ts";
import { configMaps } from "../kube/resource.ts";
import { Faults } from "./faults.ts";
import { seededRandom } from "./random.ts";
import { type Sandbox, type SandboxCluster, startSandbox } from "./sandbox.ts";

const path = "/api/v1/namespaces/default/configmaps";

describe("a fault", () => {
  let sandbox: Sandbox;
  let cluster: SandboxCluster;
  const watches: RawWatch[] = [];
  let count = 0;

  beforeAll(async () => {
    sandbox = await startSandbox({ clusters: ["faulty"] });
    cluster = sandbox.cluster("faulty");
  });
  afterEach(() => {
    cluster.faults.clear();
    for (const open of watches.splice(0)) open.close();
  });
  afterAll(() => sandbox.stop());

  const create = (name = `c${++count}`): string => {
    cluster.store.create(configMaps, { metadata: { name, namespace: "default" } });
    return name;
  };
  const openWatch = async (): Promise<RawWatch> => {
    const opened = await watch(cluster, `${path}?watch=1&resourceVersion=${cluster.store.resourceVersion}`);
    watches.push(opened);
    return opened;
  };
  const names = ({ events }: RawWatch): unknown[] => events.map((event) => event.object.metadata?.name);

  it("answers with a status, its Retry-After and as often as it was told", async () => {
    cluster.faults.add({ match: { verb: "list" }, times: 2, do: { kind: "status", code: 429, retryAfterSeconds: 3 } });
    for (const _ of [1, 2]) {
      const answer = await call(cluster, `GET ${path}`);
      expect(answer).toMatchObject({
        code: 429,
        body: { reason: "TooManyRequests", details: { retryAfterSeconds: 3 } },
      });
      expect(answer.headers["retry-after"]).toBe("3");
    }
    expect((await call(cluster, `GET ${path}`)).code).toBe(200);
    expect(cluster.faults.injected).toMatchObject({ status: 2 });
  });

  it.each([401, 403, 409, 410, 500, 503])("can be any status: %d", async (code) => {
    cluster.faults.add({ do: { kind: "status", code } });
    expect(await call(cluster, `GET ${path}`)).toMatchObject({ code, body: { kind: "Status", code } });
  });

  it("strikes only what it matches", async () => {
    cluster.faults.add({ match: { resource: "configmaps", name: "x" }, do: { kind: "status", code: 500 } });
    cluster.faults.add({ match: { userAgent: "victim" }, do: { kind: "status", code: 503 } });
    expect((await call(cluster, `GET ${path}/x`)).code).toBe(500);
    expect((await call(cluster, `GET ${path}/y`)).code).toBe(404);
    expect((await call(cluster, `GET ${path}`, { headers: { "user-agent": "a victim/1" } })).code).toBe(503);
    expect((await call(cluster, "GET /api/v1/nodes")).code).toBe(200);
  });

  it("breaks the connection and leaves no trace of the write", async () => {
    cluster.faults.add({ match: { verb: "create" }, times: 1, do: { kind: "refuse" } });
    await expect(call(cluster, `POST ${path}`, { body: { metadata: { name: "refused" } } })).rejects.toThrow();
    expect((await call(cluster, `GET ${path}/refused`)).code).toBe(404);
    expect(cluster.requests.count({ verb: "create", code: 0 })).toBeGreaterThan(0);
  });

  it("drops the answer of a write that happened", async () => {
    const name = create();
    cluster.faults.add({ match: { verb: "patch" }, times: 1, do: { kind: "drop-response" } });
    const body = { metadata: { labels: { written: "yes" } } };
    await expect(call(cluster, `PATCH ${path}/${name}`, { body, headers: mergePatch })).rejects.toThrow();
    expect(cluster.store.get(configMaps, { name, namespace: "default" }).metadata.labels).toEqual({ written: "yes" });
  });

  it("delays an answer", async () => {
    cluster.faults.add({ times: 1, do: { kind: "latency", ms: 60 } });
    const before = performance.now();
    await call(cluster, `GET ${path}`);
    expect(performance.now() - before).toBeGreaterThanOrEqual(59);
  });

  it("sends a page instead of JSON", async () => {
    cluster.faults.add({ times: 1, do: { kind: "garbage", code: 502 } });
    cluster.faults.add({ times: 1, do: { kind: "garbage" } });
    expect(await call(cluster, `GET ${path}`)).toMatchObject({ code: 502, text: expect.stringContaining("<html>") });
    expect(await call(cluster, `GET ${path}`)).toMatchObject({ code: 200, text: expect.stringContaining("<html>") });
  });

  it("serves a list of the past", async () => {
    create("before");
    const { resourceVersion } = cluster.store;
    create("after");
    cluster.faults.add({ match: { verb: "list" }, do: { kind: "stale-list", resourceVersion } });
    const { body } = await call(cluster, `GET ${path}`);
    const listed = body.items?.map((item) => item.metadata?.name);
    expect(listed).toContain("before");
    expect(listed).not.toContain("after");
    expect(body.metadata).toMatchObject({ resourceVersion });
  });

  it("cuts a watch after so many events and not before", async () => {
    cluster.faults.add({ match: { verb: "watch" }, times: 1, do: { kind: "cut-watch", afterEvents: 2 } });
    const open = await openWatch();
    const created = [create(), create(), create()];
    await open.until(({ state }) => state === "broken");
    expect(names(open)).toEqual(created.slice(0, 2));
  });

  it("cuts a watch that is open already", async () => {
    const open = await openWatch();
    cluster.faults.add({ times: 1, do: { kind: "cut-watch" } });
    await open.until(({ state }) => state === "broken");
  });

  it("stalls a watch that stays open and says nothing more", async () => {
    const open = await openWatch();
    const other = await openWatch();
    cluster.faults.add({ times: 1, do: { kind: "stall-watch", afterEvents: 1 } });
    const created = [create(), create(), create()];
    await eventually(() => open.events.length + other.events.length === 4);
    const [stalled, healthy] = open.events.length === 1 ? [open, other] : [other, open];
    expect(names(healthy)).toEqual(created);
    expect(names(stalled)).toEqual(created.slice(0, 1));
    expect(stalled.state).toBe("open");
  });

  it("drops, doubles and garbles single events", async () => {
    cluster.faults.add({ match: { name: "dropped" }, do: { kind: "drop-event" } });
    cluster.faults.add({ match: { name: "doubled" }, do: { kind: "duplicate-event" } });
    cluster.faults.add({ match: { name: "garbled", verb: "watch" }, do: { kind: "garbage" } });
    const open = await openWatch();
    for (const name of ["dropped", "doubled", "garbled", "last"]) create(name);
    await open.until((seen) => names(seen).includes("last"));
    expect(names(open)).toEqual(["doubled", "doubled", "garbled", "last"]);
    expect(open.garbage).toHaveLength(1);
  });

  it("goes away when it is taken back", async () => {
    const takeBack = cluster.faults.add({ do: { kind: "status", code: 500 } });
    takeBack();
    expect((await call(cluster, `GET ${path}`)).code).toBe(200);
  });
});

describe("a fault that only sometimes happens", () => {
  it("happens at the same moments for the same seed, and about as often as it should", () => {
    const strikes = (seed: number): boolean[] => {
      const faults = new Faults(seededRandom(seed));
      faults.add({ probability: 0.3, do: { kind: "refuse" } });
      const subject = { verb: "get", resource: "nodes", namespace: undefined, name: "x", userAgent: "" } as const;
      return Array.from({ length: 1000 }, () => faults.take(subject, ["refuse"]) !== undefined);
    };
    expect(strikes(5)).toEqual(strikes(5));
    expect(strikes(5)).not.toEqual(strikes(6));
    const hits = strikes(5).filter(Boolean).length;
    expect(hits).toBeGreaterThan(200);
    expect(hits).toBeLessThan(400);
  });
});

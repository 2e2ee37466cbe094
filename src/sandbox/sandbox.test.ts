import { once } from "node:events";
import { connect } from "node:http2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { call, eventually, watch } from "../../test/sandbox/raw-client.ts";
import { configMaps, nodes } from "../kube/resource.ts";
import { type Sandbox, type SandboxCluster, startSandbox } from "./sandbox.ts";

describe("a sandbox", () => {
  let sandbox: Sandbox;
  let cluster: SandboxCluster;

  beforeAll(async () => {
    sandbox = await startSandbox({ clusters: ["east", "west"] });
    cluster = sandbox.cluster("east");
  });
  afterAll(() => sandbox.stop());

  it("has clusters that share nothing", async () => {
    const west = sandbox.cluster("west");
    cluster.store.create(nodes, { metadata: { name: "only-east" } });
    expect((await call(west, "GET /api/v1/nodes/only-east")).code).toBe(404);
    expect((await call(cluster, "GET /api/v1/nodes", { token: west.adminToken })).code).toBe(401);
    expect(() => sandbox.cluster("north")).toThrow('no cluster "north"');
  });

  it("writes a kubeconfig that holds everything inline", () => {
    const kubeconfig = parse(cluster.kubeconfig({ token: "another" }));
    expect(kubeconfig).toMatchObject({
      "current-context": "east",
      clusters: [{ cluster: { server: cluster.url } }],
      users: [{ user: { token: "another" } }],
    });
    const ca = kubeconfig.clusters[0].cluster["certificate-authority-data"];
    expect(Buffer.from(ca, "base64").toString()).toBe(cluster.caPem);
  });

  it("accepts a token from the moment it is added until it is revoked", async () => {
    expect((await call(cluster, "GET /api/v1/nodes", { token: "tenant" })).code).toBe(401);
    cluster.addToken("tenant");
    expect((await call(cluster, "GET /api/v1/nodes", { token: "tenant" })).code).toBe(200);
    cluster.revokeToken("tenant");
    expect(await call(cluster, "GET /api/v1/nodes", { token: "tenant" })).toMatchObject({
      code: 401,
      body: { reason: "Unauthorized" },
    });
  });

  it("accepts a token until its time is over", async () => {
    cluster.addToken("lasting", { until: new Date(Date.now() + 60_000) });
    cluster.addToken("ended", { until: new Date() });
    expect((await call(cluster, "GET /api/v1/nodes", { token: "lasting" })).code).toBe(200);
    expect((await call(cluster, "GET /api/v1/nodes", { token: "ended" })).code).toBe(401);
  });

  it("shows those without a token only its health and version", async () => {
    const nobody = { headers: { authorization: "" } };
    expect(await call(cluster, "GET /readyz", nobody)).toMatchObject({ code: 200, text: "ok" });
    expect((await call(cluster, "GET /version", nobody)).body.gitVersion).toBe("v1.36.3+sandbox");
    expect(await call(cluster, "GET /api/v1/nodes", nobody)).toMatchObject({
      code: 403,
      body: { reason: "Forbidden" },
    });
  });

  it("comes back on the same port after it was gone", async () => {
    const { url } = cluster;
    const open = await watch(cluster, "/api/v1/nodes?watch=1");
    await cluster.stopListening();
    await open.until(({ state }) => state !== "open");
    await expect(call(cluster, "GET /api/v1/nodes")).rejects.toThrow();
    await cluster.startListening();
    expect(cluster.url).toBe(url);
    expect((await call(cluster, "GET /api/v1/nodes/only-east")).code).toBe(200);
  });

  it("sends HTTP/2 clients away while their open streams go on", async () => {
    const session = connect(cluster.url, { ca: cluster.caPem });
    const away = once(session, "goaway");
    const path = "/api/v1/namespaces/default/configmaps?watch=1";
    const stream = session.request({ ":path": path, authorization: `Bearer ${cluster.adminToken}` });
    await once(stream, "response");
    cluster.goaway();
    expect((await away)[0]).toBe(0);
    cluster.store.create(configMaps, { metadata: { name: "after-goaway", namespace: "default" } });
    const [chunk] = await once(stream, "data");
    expect(String(chunk)).toContain("after-goaway");
    session.destroy();
  });

  it("logs who asked for what, and how it was answered", async () => {
    cluster.requests.clear();
    const headers = { "user-agent": "tester/1" };
    await call(cluster, "GET /api/v1/namespaces/default/configmaps", { headers });
    await call(cluster, "GET /api/v1/namespaces/default/configmaps/none", { headers });
    await call(cluster, "GET /version", { headers });
    expect(cluster.requests.all({ userAgent: "tester/1" })).toMatchObject([
      { verb: "list", resource: "configmaps", namespace: "default", code: 200 },
      { verb: "get", resource: "configmaps", name: "none", code: 404 },
    ]);
    expect(cluster.requests.count({ code: 404 })).toBe(1);
    cluster.requests.clear();
    expect(cluster.requests.all()).toEqual([]);
  });

  it("compresses a large answer for those who ask", async () => {
    for (let index = 0; index < 20; index += 1) {
      const annotations = { filling: "x".repeat(10_000) };
      cluster.store.create(nodes, { metadata: { name: `large-${index}`, annotations } });
    }
    const headers = { "accept-encoding": "gzip" };
    const large = await call(cluster, "GET /api/v1/nodes", { headers });
    expect(large.headers["content-encoding"]).toBe("gzip");
    expect(large.body.items).toHaveLength(21);
    const small = await call(cluster, "GET /api/v1/nodes/only-east", { headers });
    expect(small.headers["content-encoding"]).toBeUndefined();
  });

  it("leaves nothing open when it stops", async () => {
    const brief = await startSandbox({ clusters: ["brief"] });
    const open = await watch(brief.cluster("brief"), "/api/v1/nodes?watch=1");
    await brief.stop();
    await eventually(() => open.state !== "open");
    expect(brief.cluster("brief").requests.openWatches()).toBe(0);
  });
});

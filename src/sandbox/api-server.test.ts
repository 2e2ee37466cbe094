import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aGadget, definitions, gadgetDefinition, gadgets } from "../../test/sandbox/gadget.ts";
import { call, jsonPatch, mergePatch, strategicPatch } from "../../test/sandbox/raw-client.ts";
import { configMaps, nodes } from "../kube/resource.ts";
import { type Sandbox, type SandboxCluster, startSandbox } from "./sandbox.ts";

const gadgetPath = "/apis/example.com/v1/namespaces/default/gadgets";
const configMapPath = "/api/v1/namespaces/default/configmaps";

describe("the API server", () => {
  let sandbox: Sandbox;
  let cluster: SandboxCluster;

  beforeAll(async () => {
    sandbox = await startSandbox({ clusters: ["api"], historyLimit: 50 });
    cluster = sandbox.cluster("api");
    cluster.store.create(definitions, gadgetDefinition);
  });
  afterAll(() => sandbox.stop());

  it("lists what it serves in one document for kubectl, and step by step for others", async () => {
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    const whole = await call(cluster, "GET /apis", { headers: { accept } });
    expect(whole.body.kind).toBe("APIGroupDiscoveryList");
    expect(whole.headers["content-type"]).toContain("as=APIGroupDiscoveryList");
    expect(whole.text).toContain('"resource":"gadgets"');
    expect((await call(cluster, "GET /apis")).body.kind).toBe("APIGroupList");
    const { body } = await call(cluster, "GET /apis/example.com/v1");
    expect(body.resources).toMatchObject([{ name: "gadgets", shortNames: ["gd"] }, { name: "gadgets/status" }]);
  });

  it("tells kubectl that the server checks fields, and explains custom resources", async () => {
    const index = await call(cluster, "GET /openapi/v3");
    expect(index.text).toContain("/openapi/v3/apis/example.com/v1");
    const { text } = await call(cluster, "GET /openapi/v3/apis/example.com/v1");
    expect(text).toContain("fieldValidation");
    expect(text).toContain('"maximum":10');
    expect((await call(cluster, "GET /openapi/v2")).code).toBe(404);
  });

  it("prints tables with the columns of a definition", async () => {
    cluster.store.create(gadgets, aGadget("printed", { size: 7 }));
    const ref = { name: "printed", namespace: "default" };
    cluster.store.patchStatus(gadgets, ref, { status: { conditions: [{ type: "Ready", status: "True" }] } });
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    const { body } = await call(cluster, `GET ${gadgetPath}/printed`, { headers: { accept } });
    const { columnDefinitions, rows } = body as unknown as Record<string, Record<string, unknown>[]>;
    expect(columnDefinitions?.map((column) => column.name)).toEqual(["Name", "Ready", "Size", "Age"]);
    expect(rows).toMatchObject([
      { cells: ["printed", "True", 7, expect.any(String)], object: { kind: "PartialObjectMetadata" } },
    ]);
  });

  it("prints nodes as kubectl users know them", async () => {
    const node = {
      metadata: { name: "worker-1", labels: { "node-role.kubernetes.io/worker": "" } },
      status: { conditions: [{ type: "Ready", status: "True" }], nodeInfo: { kubeletVersion: "v1.36.3" } },
    };
    cluster.store.create(nodes, node);
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const { body } = await call(cluster, "GET /api/v1/nodes/worker-1", { headers: { accept } });
    const [row] = body.rows as { cells: unknown[] }[];
    expect(row?.cells.slice(0, 5)).toEqual(["worker-1", "Ready", "worker", expect.any(String), "v1.36.3"]);
  });

  it("gives only metadata to those who ask for it", async () => {
    const accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    const { body } = await call(cluster, `GET ${gadgetPath}`, { headers: { accept } });
    expect(body.kind).toBe("PartialObjectMetadataList");
    expect(body.items?.[0]).not.toHaveProperty("spec");
  });

  it("warns of unknown fields, refuses them when asked to be strict, and is silent when told so", async () => {
    const body = { ...aGadget("odd"), spec: { size: 1, bogus: true } };
    const strict = await call(cluster, `POST ${gadgetPath}?fieldValidation=Strict`, { body });
    expect(strict).toMatchObject({
      code: 400,
      body: { message: expect.stringContaining('unknown field "spec.bogus"') },
    });
    const silent = await call(cluster, `POST ${gadgetPath}?fieldValidation=Ignore&dryRun=All`, { body });
    expect(silent.headers.warning).toBeUndefined();
    const warned = await call(cluster, `POST ${gadgetPath}`, { body });
    expect(warned.headers.warning).toBe('299 - "unknown field \\"spec.bogus\\""');
    expect(warned.body.spec).toEqual({ size: 1, color: "red" });
  });

  it("names every field that is wrong", async () => {
    const body = aGadget("wrong", { size: 0, clusters: [{ port: 1 }] });
    const { code, body: status } = await call(cluster, `POST ${gadgetPath}`, { body });
    expect(code).toBe(422);
    expect(status.details?.causes?.map(({ field }) => field)).toEqual(["spec.size", "spec.clusters[0].name"]);
  });

  it("writes nothing in a dry run", async () => {
    const before = cluster.store.resourceVersion;
    const answer = await call(cluster, `POST ${configMapPath}?dryRun=All`, { body: { metadata: { name: "dry" } } });
    expect(answer.code).toBe(201);
    expect(cluster.store.resourceVersion).toBe(before);
  });

  it("patches in three ways and knows which resource takes which", async () => {
    cluster.store.create(configMaps, { metadata: { name: "patched", namespace: "default" } });
    const line = `PATCH ${configMapPath}/patched`;
    await call(cluster, line, { body: { data: { a: "1" } }, headers: mergePatch });
    await call(cluster, line, { body: [{ op: "add", path: "/data/b", value: "2" }], headers: jsonPatch });
    const { body } = await call(cluster, line, { body: { data: { c: "3" } }, headers: strategicPatch });
    expect(body.data).toEqual({ a: "1", b: "2", c: "3" });
    const test = [{ op: "test", path: "/data/a", value: "9" }];
    expect((await call(cluster, line, { body: test, headers: jsonPatch })).code).toBe(422);
    const custom = await call(cluster, `PATCH ${gadgetPath}/printed`, { body: {}, headers: strategicPatch });
    expect(custom).toMatchObject({ code: 415, body: { reason: "UnsupportedMediaType" } });
    const apply = { "content-type": "application/apply-patch+yaml" };
    expect((await call(cluster, line, { body: "a: b", headers: apply })).code).toBe(415);
  });

  it("pages through a list as it was when the first page was read", async () => {
    for (const name of ["p1", "p2", "p3"]) {
      cluster.store.create(configMaps, { metadata: { name, namespace: "default", labels: { page: "1" } } });
    }
    const query = "labelSelector=page%3D1&limit=2";
    const first = await call(cluster, `GET ${configMapPath}?${query}`);
    cluster.store.delete(configMaps, { name: "p3", namespace: "default" });
    const next = `GET ${configMapPath}?${query}&continue=${first.body.metadata?.continue}`;
    const second = await call(cluster, next);
    expect(second.body.items?.map((item) => item.metadata?.name)).toEqual(["p3"]);
    expect(second.body.metadata?.resourceVersion).toBe(first.body.metadata?.resourceVersion);
    cluster.compact();
    const late = await call(cluster, next);
    expect(late).toMatchObject({ code: 410, body: { reason: "Expired", metadata: { continue: expect.any(String) } } });
    const rest = `GET ${configMapPath}?${query}&continue=${late.body.metadata?.continue}`;
    expect((await call(cluster, rest)).body.items).toEqual([]);
  });

  it("answers questions about access without storing them", async () => {
    const spec = { resourceAttributes: { verb: "get", resource: "pods" } };
    const line = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    expect(await call(cluster, line, { body: { spec } })).toMatchObject({
      code: 201,
      body: { status: { allowed: true } },
    });
  });

  it.each([
    ["GET /api/v1/nothing", 404],
    ["GET /apis/nothing.example.com/v1/nothing", 404],
    ["GET /api/v1/configmaps/x", 404],
    ["POST /api/v1/configmaps", 405],
    ["PUT /api/v1/nodes", 405],
    ["POST /api/v1/nodes/x", 405],
    ["GET /api/v1/namespaces/default/configmaps/patched/status", 404],
    ["GET /api/v1/nodes?limit=x", 400],
    ["GET /api/v1/nodes?labelSelector=a+b", 400],
    ["GET /api/v1/nodes?fieldSelector=spec.bogus%3D1", 400],
    ["GET /api/v1/nodes?resourceVersion=99999999", 504],
  ])("answers %s with %d", async (line, code) => {
    const body = line.startsWith("GET") ? undefined : { metadata: { name: "x" } };
    expect((await call(cluster, line, { body })).code).toBe(code);
  });

  it("refuses a body that is too large, broken or of an unknown kind", async () => {
    const post = `POST ${configMapPath}`;
    const large = { metadata: { name: "large" }, data: { a: "x".repeat(3 * 1024 * 1024) } };
    expect((await call(cluster, post, { body: large })).code).toBe(413);
    expect((await call(cluster, post, { body: "{" })).code).toBe(400);
    expect((await call(cluster, post, { body: "x", headers: { "content-type": "text/plain" } })).code).toBe(415);
    expect((await call(cluster, `GET ${configMapPath}`, { headers: { accept: "text/html" } })).code).toBe(406);
  });
});

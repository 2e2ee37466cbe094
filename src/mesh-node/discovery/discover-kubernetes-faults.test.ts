import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Discovering, envOf } from "../../../test/support/discovering.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { anEndpoint, aSlice } from "../../../test/support/slices.ts";
import { makeCertificates } from "../../../test/support/test-certificates.ts";
import { answerJson, type Received, startHttp2Server } from "../../../test/support/test-server.ts";
import { namespaces } from "../../kube/resource.ts";
import type { FaultAction } from "../../sandbox/faults.ts";

let bed: Discovering;
const stops: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  bed = await Discovering.create();
  bed.cluster.store.create(namespaces, { metadata: { name: "mesh" } });
  bed.put(aSlice());
});

afterEach(async () => {
  for (const stop of [() => bed.stopAll(), ...stops.splice(0)]) await stop();
});

const three = [10, 11, 12].map((n) => anEndpoint(`peat-${n - 10}`, `10.44.0.${n}`));

const faults: readonly (readonly [string, FaultAction, string])[] = [
  ["401", { kind: "status", code: 401 }, "Unauthorized"],
  ["403", { kind: "status", code: 403 }, "Forbidden"],
  ["404", { kind: "status", code: 404 }, "NotFound"],
  ["410", { kind: "status", code: 410 }, "ServerFailed"],
  ["429", { kind: "status", code: 429, retryAfterSeconds: 2 }, "Throttled"],
  ["500", { kind: "status", code: 500 }, "ServerFailed"],
  ["503 with a page of HTML", { kind: "garbage", code: 503 }, "ServerFailed"],
  ["a page of HTML", { kind: "garbage", code: 200 }, "ServerFailed"],
  ["a broken connection", { kind: "refuse" }, "Unreachable"],
];

describe.each(faults)("an API server that answers everything with %s", (_, action, reason) => {
  test("does not keep discovery from starting, and it works when the server does", async () => {
    const repair = bed.cluster.faults.add({ do: action });
    const { discovery, told, warnings, names } = bed.start();
    await eventually(() => expect(discovery.state().problem).toContain(`${reason}: `));
    expect(discovery.state().known).toBe(false);
    await eventually(() => expect(bed.cluster.requests.count()).toBeGreaterThan(3));
    expect(warnings()).toMatchObject([{ fields: { reason, namespace: "mesh", hint: expect.any(String) } }]);
    expect(told).toEqual([]);
    repair();
    await eventually(() => expect(names()).toEqual(["peat-0", "peat-1"]));
    expect(discovery.state()).toEqual({ known: true });
  });

  test("does not take the members away that are known, and what changed meanwhile is found afterwards", async () => {
    const { discovery, told, warnings, names } = bed.start();
    await eventually(() => expect(bed.cluster.requests.openWatches()).toBe(1));
    const repair = bed.cluster.faults.add({ do: action });
    bed.cluster.cutWatches();
    await eventually(() => expect(discovery.state()).toMatchObject({ known: false }));
    bed.put(aSlice({ endpoints: three }));
    expect(names()).toEqual(["peat-0", "peat-1"]);
    expect(warnings().at(-1)).toMatchObject({ fields: { reason } });
    repair();
    await eventually(() => expect(names()).toEqual(["peat-0", "peat-1", "peat-2"]));
    expect(told).toHaveLength(2);
    await eventually(() => expect(discovery.state()).toEqual({ known: true }));
  });
});

describe("outages", () => {
  test("an API server that is gone and comes back changes nothing but the state in between", async () => {
    const { discovery, told, names } = bed.start();
    await eventually(() => expect(names()).toHaveLength(2));
    await bed.cluster.stopListening();
    await eventually(() => expect(discovery.state().problem).toContain("Unreachable: "));
    await bed.cluster.startListening();
    await eventually(() => expect(discovery.state()).toEqual({ known: true }));
    expect(told).toHaveLength(1);
  });

  test("a watch that is cut goes on without anybody noticing", async () => {
    const { told, names, warnings } = bed.start();
    await eventually(() => expect(bed.cluster.requests.openWatches()).toBe(1));
    for (let n = 0; n < 3; n++) {
      bed.cluster.cutWatches();
      await eventually(() => expect(bed.cluster.requests.openWatches()).toBe(1));
    }
    bed.put(aSlice({ endpoints: three }));
    await eventually(() => expect(names()).toHaveLength(3));
    expect([told.length, warnings().length]).toEqual([2, 0]);
  });

  test("a history that was compacted is read again as a whole", async () => {
    const { names } = bed.start();
    await eventually(() => expect(bed.cluster.requests.openWatches()).toBe(1));
    const repair = bed.cluster.faults.add({ match: { verb: "watch" }, do: { kind: "refuse" } });
    bed.cluster.cutWatches();
    bed.put(aSlice({ endpoints: three }));
    bed.cluster.compact();
    repair();
    await eventually(() => expect(names()).toHaveLength(3));
  });

  test("a server that asks for patience gets it, whatever the interval is", async () => {
    const { names } = bed.start({ intervalMs: 1_000 });
    await eventually(() => expect(names()).toHaveLength(2));
    bed.cluster.faults.add({ do: { kind: "status", code: 429, retryAfterSeconds: 120 } });
    bed.cluster.cutWatches();
    await eventually(() => expect(bed.cluster.requests.count({ code: 429 })).toBeGreaterThan(0));
    await delay(1_000);
    expect(bed.cluster.requests.count({ code: 429 })).toBeLessThan(4);
  });

  test("without the right to watch the list is read again and again, and that is said once", async () => {
    bed.cluster.faults.add({ match: { verb: "watch" }, do: { kind: "status", code: 403 } });
    const { discovery, names, warnings } = bed.start({ intervalMs: 2_000 });
    await eventually(() => expect(names()).toHaveLength(2));
    bed.put(aSlice({ endpoints: three }));
    await eventually(() => expect(names()).toHaveLength(3));
    expect(discovery.state()).toMatchObject({ known: true, problem: expect.stringContaining("WatchForbidden") });
    expect(warnings()).toMatchObject([{ fields: { reason: "WatchForbidden" } }]);
  });

  test("a token that was replaced is read from its file", async () => {
    const { names, warnings } = bed.start();
    await eventually(() => expect(names()).toHaveLength(2));
    bed.cluster.addToken("second");
    await bed.pod.write("token", "second\n");
    bed.cluster.revokeToken(bed.cluster.adminToken);
    bed.cluster.cutWatches();
    bed.put(aSlice({ endpoints: three }));
    await eventually(() => expect(names()).toHaveLength(3));
    expect(warnings()).toEqual([]);
  });
});

describe("outside a cluster", () => {
  test("discovery says what is missing, with the namespace, and no more", async () => {
    const { discovery, warnings } = bed.start({ env: {} });
    await delay(300);
    expect(discovery.state()).toEqual({
      known: false,
      problem: expect.stringMatching(/^NotInCluster: .*KUBERNETES_SERVICE_HOST/),
    });
    expect(warnings()).toMatchObject([{ level: "warn", fields: { reason: "NotInCluster", namespace: "mesh" } }]);
  });

  test("nobody is asked when the address of the API server is nonsense", async () => {
    const { discovery } = bed.start({ env: { KUBERNETES_SERVICE_HOST: "a b", KUBERNETES_SERVICE_PORT: "x" } });
    expect(discovery.state()).toMatchObject({ known: false, problem: expect.stringContaining("NotInCluster") });
  });

  test("files of the service account that appear later are enough", async () => {
    await rm(join(bed.pod.directory, "token"));
    const { discovery, names } = bed.start();
    await eventually(() => expect(discovery.state().problem).toContain("token"));
    await bed.pod.write("token", bed.cluster.adminToken);
    await eventually(() => expect(names()).toHaveLength(2));
  });

  test("it can be closed while it waits", async () => {
    const { discovery } = bed.start({ env: {} });
    await discovery.close();
    expect(discovery.state().known).toBe(false);
  });
});

describe("TLS", () => {
  test("a server of another authority is not believed; when the pod's file says who it is, it is", async () => {
    const right = bed.cluster.caPem;
    await bed.pod.write("ca.crt", (await makeCertificates()).caPem);
    const { discovery, names, warnings } = bed.start();
    await eventually(() => expect(discovery.state().problem).toContain("certificate not trusted"));
    expect(bed.cluster.requests.count()).toBe(0);
    expect(JSON.stringify(warnings())).not.toContain(bed.cluster.adminToken);
    await bed.pod.write("ca.crt", right);
    await eventually(() => expect(names()).toHaveLength(2));
    expect(discovery.state()).toEqual({ known: true });
  });

  test("an authority that is replaced while the members are known takes nobody away", async () => {
    const { discovery, names, told, log } = bed.start();
    await eventually(() => expect(names()).toHaveLength(2));
    const second = await Discovering.create();
    stops.push(() => second.stopAll());
    await bed.pod.write("ca.crt", second.cluster.caPem);
    await bed.cluster.stopListening();
    const moved = "the way to the API server changed, connecting again";
    await eventually(() => expect(log.map(({ message }) => message)).toContain(moved));
    await bed.cluster.startListening();
    await eventually(() => expect(discovery.state().problem).toContain("certificate not trusted"));
    expect([names().length, told.length]).toEqual([2, 1]);
    await bed.pod.write("ca.crt", bed.cluster.caPem);
    await eventually(() => expect(discovery.state()).toEqual({ known: true }));
    expect(told).toHaveLength(1);
  });
});

test("a list that breaks off in the middle of its JSON is nothing, and the members stay", async () => {
  const certificates = await makeCertificates();
  let isBroken = true;
  const items = [{ ...aSlice(), metadata: { ...aSlice().metadata, resourceVersion: "5" } }];
  const list = { kind: "EndpointSliceList", metadata: { resourceVersion: "7" }, items };
  const server = await startHttp2Server(certificates, (stream, { path }: Received) => {
    if (path.includes("watch=1") && !isBroken)
      return stream.respond({ ":status": 200, "content-type": "application/json" });
    if (!isBroken) return answerJson(stream, list);
    stream.respond({ ":status": 200, "content-type": "application/json" });
    stream.end(JSON.stringify(list).slice(0, -20));
  });
  stops.push(() => server.close());
  await bed.pod.write("ca.crt", certificates.caPem);
  const { discovery, names, told, warnings } = bed.start({ env: envOf(server.config.server), intervalMs: 2_000 });
  await eventually(() => expect(discovery.state().problem).toContain("malformed JSON"));
  expect(warnings()).toMatchObject([{ fields: { reason: "ServerFailed", namespace: "mesh" } }]);
  isBroken = false;
  await eventually(() => expect(names()).toEqual(["peat-0", "peat-1"]));
  isBroken = true;
  await eventually(() => expect(discovery.state().known).toBe(false));
  expect([names(), told.length]).toEqual([["peat-0", "peat-1"], 1]);
});

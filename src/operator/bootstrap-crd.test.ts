import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { fastClock } from "../../test/support/fast-clock.ts";
import { configOf } from "../../test/support/run-operator.ts";
import { type CrdObject, clusterMeshCrd, customResourceDefinitions } from "../api/crd.ts";
import type { KubeClient } from "../kube/client.ts";
import { createClient } from "../kube/http-client.ts";
import type { Logger } from "../runtime/log.ts";
import { silentLogger } from "../runtime/log.ts";
import { type Sandbox, type SandboxCluster, startSandbox } from "../sandbox/sandbox.ts";
import { awaitCrd, type BootstrapPorts, bootstrapCrd } from "./bootstrap-crd.ts";

let sandbox: Sandbox;
let cluster: SandboxCluster;
let client: KubeClient;
let ending: AbortController;
let warnings: string[];

beforeEach(async () => {
  sandbox = await startSandbox({ clusters: ["north"] });
  cluster = sandbox.cluster("north");
  client = createClient(configOf(cluster.kubeconfig()), { cluster: "north" });
  ending = new AbortController();
  warnings = [];
});
afterEach(async () => {
  client.close();
  await sandbox.stop();
});

const log: Logger = {
  ...silentLogger,
  warn: (message, fields) => warnings.push(`${message} ${JSON.stringify(fields)}`),
};
const ports = (): BootstrapPorts => ({ client, clock: fastClock(100), log, signal: ending.signal });
const ref = { name: clusterMeshCrd().metadata.name };
const definition = (): CrdObject | undefined => cluster.store.find(customResourceDefinitions, ref);

describe("an operator that installs the definition", () => {
  it("writes it once, and again only when it says something else; one look tells that", async () => {
    await bootstrapCrd(ports());
    const version = definition()?.metadata.resourceVersion;
    const asked = cluster.requests.count();
    await bootstrapCrd(ports());
    expect(definition()?.metadata.resourceVersion).toBe(version);
    expect(cluster.requests.count() - asked).toBe(1);
    cluster.store.patch(customResourceDefinitions, ref, { spec: { names: { shortNames: ["other"] } } });
    await bootstrapCrd(ports());
    expect(definition()?.spec).toMatchObject({ names: { shortNames: ["cmesh"] } });
  });
});

describe("an operator that leaves the definition to others", () => {
  it("waits for it, says once what to do, and asks for nothing but meshes", async () => {
    const waiting = awaitCrd(ports());
    await eventually(() => expect(cluster.requests.count({ verb: "list" })).toBeGreaterThan(2));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/clustermeshes\.kilo\.squat\.ai.*crd\/clustermeshes\.yaml.*--install-crd=true/);
    cluster.store.create(customResourceDefinitions, clusterMeshCrd());
    await waiting;
    const asked = cluster.requests.all().map(({ verb, resource }) => `${verb} ${resource}`);
    expect(new Set(asked)).toEqual(new Set(["list clustermeshes.kilo.squat.ai"]));
  });

  it("goes on at once where it is", async () => {
    cluster.store.create(customResourceDefinitions, clusterMeshCrd());
    await awaitCrd(ports());
    expect([warnings, cluster.requests.count()]).toEqual([[], 1]);
  });

  it("stops waiting when it is stopped", async () => {
    const waiting = awaitCrd(ports());
    ending.abort();
    await expect(waiting).rejects.toThrow();
  });
});

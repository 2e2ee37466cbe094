import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { whyNoControlPlane } from "./binaries.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { createCrd } from "./create-crd.ts";
import { kubectl } from "./kubectl.ts";
import type { RealCluster } from "./real-cluster.ts";
import { recipeOf, versionOf } from "./recipes.ts";
import { ask } from "./request.ts";

const reason = whyNoControlPlane();
if (reason) console.log(`skipped: real control plane: ${reason}`);

function processesOf(directory: string): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => commandLineOf(pid).includes(directory));
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(50)) if (await holds()) return;
  throw new Error("it did not become true within 30 s");
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`nothing at ${index}`);
  return item;
}

const aNode = (name: string) => ({ apiVersion: "v1", kind: "Node", metadata: { name } });
const nodes = "/api/v1/nodes";

describe.skipIf(reason)("a real control plane", { timeout: 120_000 }, () => {
  let newest: ControlPlane;
  let oldest: ControlPlane;
  let first: RealCluster;
  let second: RealCluster;

  beforeAll(async () => {
    newest = await startControlPlane({ clusters: 2, audit: true, controllerManager: true });
    oldest = await startControlPlane({ clusters: 1, version: "oldest", audit: true, controllerManager: true });
    [first, second] = [at(newest.clusters, 0), at(newest.clusters, 1)];
  }, 120_000);

  afterAll(async () => {
    await newest?.stop();
    await oldest?.stop();
  });

  test("each server says the version that was asked for", async () => {
    const { gitVersion } = await at(oldest.clusters, 0).requestJson<{ gitVersion: string }>({ path: "/version" });
    expect(gitVersion).toBe(versionOf(recipeOf("kube-apiserver-oldest")));
    if (process.env.KUBEBUILDER_ASSETS || process.env.KUBE_APISERVER) return;
    const answer = await first.requestJson<{ gitVersion: string }>({ path: "/version" });
    expect(answer.gitVersion).toBe(versionOf(recipeOf("kube-apiserver")));
  });

  test("the administrator creates a Node, and the neighbour does not see it", async () => {
    for (const cluster of [first, at(oldest.clusters, 0)]) {
      const answer = await cluster.request({ method: "POST", path: nodes, body: aNode("only-here") });
      expect(answer.status).toBe(201);
    }
    expect((await second.request({ path: `${nodes}/only-here` })).status).toBe(404);
  });

  test("a scoped token may do what it was given and is refused the rest", async () => {
    for (const cluster of [first, at(oldest.clusters, 0)]) {
      const rules = [{ apiGroups: [""], resources: ["nodes"], verbs: ["get", "list"] }];
      const kubeconfig = await cluster.scopedKubeconfig({ name: "reader", namespace: "mesh", clusterRoleRules: rules });
      const token = kubeconfig.match(/token: (\S+)/)?.[1] ?? "";
      const reader = { ...cluster.admin, token };
      expect((await ask(reader, { path: nodes })).status).toBe(200);
      expect((await ask(reader, { method: "POST", path: nodes, body: aNode("mine") })).status).toBe(403);
      expect((await ask(reader, { path: "/api/v1/namespaces/mesh/secrets" })).status).toBe(403);
    }
  });

  test("the audit log has each request once, and none of the harness", async () => {
    const userAgent = "counted";
    await second.request({ path: `${nodes}?limit=5`, userAgent });
    await second.request({ method: "POST", path: nodes, body: aNode("counted"), userAgent });
    await second.request({ path: `${nodes}/nowhere`, userAgent });
    await second.request({ path: nodes });
    const counted = (await second.audit()).filter((entry) => entry.userAgent === userAgent);
    expect(counted.map(({ verb, resource, name, code }) => [verb, resource, name, code])).toEqual([
      ["list", "nodes", "", 200],
      ["create", "nodes", "counted", 201],
      ["get", "nodes", "nowhere", 404],
    ]);
    expect(counted.every((entry) => entry.user === "admin" && !entry.open)).toBe(true);
    expect((await second.audit()).some((entry) => entry.userAgent === "control-plane-harness")).toBe(false);
  });

  test("a new kind is served as soon as it is created, and kubectl knows it", async () => {
    await createCrd(first.admin, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "peers.example.org" },
      spec: {
        group: "example.org",
        scope: "Cluster",
        names: { plural: "peers", singular: "peer", kind: "Peer", listKind: "PeerList" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    const input = JSON.stringify({ apiVersion: "example.org/v1", kind: "Peer", metadata: { name: "one" } });
    const applied = await kubectl(["apply", "-f", "-"], { kubeconfigFile: first.kubeconfigFile, input });
    expect(applied).toMatchObject({ code: 0, stdout: "peer.example.org/one created\n" });
    const missing = await kubectl(["get", "peers", "two"], { kubeconfigFile: first.kubeconfigFile });
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("NotFound");
  });

  test("the controller manager ends a namespace", async () => {
    const path = "/api/v1/namespaces/short-lived";
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: "short-lived" } };
    for (const cluster of [first, at(oldest.clusters, 0)]) {
      await cluster.requestJson({ method: "POST", path: "/api/v1/namespaces", body });
      await cluster.requestJson({ method: "DELETE", path });
    }
    for (const cluster of [first, at(oldest.clusters, 0)]) {
      await eventually(async () => (await cluster.request({ path })).status === 404);
    }
  });

  test("a paused server hangs, a resumed one answers", async () => {
    second.pause();
    await expect(second.request({ path: "/version", timeoutMs: 500 })).rejects.toThrow();
    second.resume();
    expect((await second.request({ path: "/version" })).status).toBe(200);
  });

  test("a server that comes back has its address, its data and its tokens", async () => {
    const [pid, url] = [second.pid, second.url];
    await second.requestJson({ method: "POST", path: nodes, body: aNode("kept") });
    await second.stopServer();
    await expect(second.request({ path: "/version" })).rejects.toThrow("ECONNREFUSED");
    await second.startServer();
    expect(second.pid).not.toBe(pid);
    expect(second.url).toBe(url);
    expect((await second.request({ path: `${nodes}/kept` })).status).toBe(200);
  });
});

describe.skipIf(reason)("nothing is left", { timeout: 120_000 }, () => {
  test("after stop, not even of a paused server", async () => {
    const plane = await startControlPlane({ clusters: 2 });
    expect(processesOf(plane.directory).length).toBeGreaterThanOrEqual(3);
    at(plane.clusters, 0).pause();
    await plane.stop();
    await plane.stop();
    expect(processesOf(plane.directory)).toEqual([]);
    expect(existsSync(plane.directory)).toBe(false);
  });

  test("after a start that failed, and the error quotes the log", async () => {
    const start = startControlPlane({ clusters: 1, apiServerFlags: ["--no-such-flag"] });
    await expect(start).rejects.toThrow("unknown flag: --no-such-flag");
  });

  test("after kill -9 of the process that started it", async () => {
    const source = `import { startControlPlane } from ${JSON.stringify(`${import.meta.dirname}/control-plane.ts`)};
      console.log((await startControlPlane({ clusters: 1, controllerManager: true })).directory);`;
    const script = spawn(process.execPath, ["--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [directory] = (await once(createInterface({ input: script.stdout }), "line")) as [string];
    expect(processesOf(directory).length).toBeGreaterThanOrEqual(3);
    script.kill("SIGKILL");
    await eventually(() => processesOf(directory).length === 0 && !existsSync(directory));
  });
});

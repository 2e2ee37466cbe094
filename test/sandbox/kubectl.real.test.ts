import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { binary } from "../../e2e/control-plane/binaries.ts";
import { configMaps } from "../../src/kube/resource.ts";
import { type Sandbox, type SandboxCluster, startSandbox } from "../../src/sandbox/sandbox.ts";
import { aGadget, gadgetDefinition, gadgets } from "./gadget.ts";
import { eventually } from "./raw-client.ts";

describe("the real kubectl on the sandbox", () => {
  const kubectl = binary("kubectl");
  const run = promisify(execFile);
  let sandbox: Sandbox;
  let cluster: SandboxCluster;
  let folder: string;

  beforeAll(async () => {
    sandbox = await startSandbox({ clusters: ["kubectl"] });
    cluster = sandbox.cluster("kubectl");
    folder = await mkdtemp(join(tmpdir(), "sandbox-kubectl-"));
    await writeFile(join(folder, "kubeconfig"), cluster.kubeconfig());
    await apply("definition", gadgetDefinition);
  });
  afterAll(async () => {
    await sandbox?.stop();
    if (folder) await rm(folder, { recursive: true });
  });

  const withConfig = (...words: readonly string[]): string[] => {
    return ["--kubeconfig", join(folder, "kubeconfig"), "--cache-dir", join(folder, "cache"), ...words];
  };
  const type = async (words: string): Promise<string> => {
    const { stdout } = await run(kubectl, withConfig(...words.split(" ")));
    return stdout.trim();
  };
  const refused = async (words: string): Promise<string> => {
    const failed = await run(kubectl, withConfig(...words.split(" "))).catch((error) => error);
    return String(failed.stderr);
  };
  const apply = async (name: string, object: unknown): Promise<string> => {
    const file = join(folder, `${name}.json`);
    await writeFile(file, JSON.stringify(object));
    return type(`apply -f ${file}`);
  };
  const rows = async (words: string): Promise<string[][]> => {
    return (await type(words)).split("\n").map((line) => line.split(/\s{2,}/));
  };

  it("knows its version and its resources", async () => {
    expect(await type("version")).toContain("Server Version: v1.36.3+sandbox");
    expect(await type("api-resources")).toMatch(/gadgets\s+gd\s+example\.com\/v1\s+true\s+Gadget/);
  });

  it("applies, applies again and sees no change", async () => {
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" }, data: { a: "1" } };
    expect(await apply("applied", object)).toBe("configmap/applied created");
    expect(await apply("applied", object)).toBe("configmap/applied unchanged");
    expect(await apply("applied", { ...object, data: { a: "2" } })).toBe("configmap/applied configured");
    expect(cluster.store.get(configMaps, { name: "applied", namespace: "default" })).toMatchObject({
      data: { a: "2" },
    });
  });

  it("prints the columns of a custom resource", async () => {
    await apply("printed", aGadget("printed", { size: 7 }));
    const ref = { name: "printed", namespace: "default" };
    cluster.store.patchStatus(gadgets, ref, { status: { conditions: [{ type: "Ready", status: "True" }] } });
    const [head, row] = await rows("get gd");
    expect(head).toEqual(["NAME", "READY", "SIZE", "AGE"]);
    expect(row).toEqual(["printed", "True", "7", expect.stringMatching(/^\d+s$/)]);
    expect(await rows("get gd -o custom-columns=NAME:.metadata.name,SIZE:.spec.size")).toContainEqual(["printed", "7"]);
  });

  it("describes an object with its events", async () => {
    const { metadata } = cluster.store.create(gadgets, aGadget("described"));
    const involvedObject = { kind: "Gadget", name: "described", namespace: "default", uid: metadata.uid };
    await apply("event", {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "seen", namespace: "default" },
      involvedObject,
      reason: "Seen",
      message: "a test saw it",
      type: "Normal",
    });
    const text = await type("describe gd described");
    expect(text).toMatch(/Name:\s+described/);
    expect(text).toMatch(/Seen\s+.*a test saw it/);
  });

  it("annotates, labels and patches", async () => {
    const created = cluster.store.create(gadgets, aGadget("changed"));
    await type("annotate gd changed note=hello");
    await type("label gd changed app=web");
    await type('patch gd changed --type merge -p {"spec":{"size":9}}');
    expect(cluster.store.get(gadgets, created.metadata as { name: string; namespace: string })).toMatchObject({
      metadata: { annotations: { note: "hello" }, labels: { app: "web" }, generation: 2 },
      spec: { size: 9 },
    });
    expect(await type("get gd -l app=web -o name")).toBe("gadget.example.com/changed");
  });

  it("creates what it sends as protobuf", async () => {
    await type("create namespace made");
    await type("-n made create secret generic s --from-literal=a=b");
    await type("-n made create serviceaccount robot");
    expect(await type("-n made get secret s -o jsonpath={.data.a}")).toBe("Yg==");
    expect(await type("auth can-i create pods")).toBe("yes");
  });

  it("deletes and waits until it is done", async () => {
    cluster.store.create(gadgets, aGadget("deleted"));
    expect(await type("delete gd deleted")).toContain('"deleted" deleted');
    await type("create namespace emptied");
    await type("-n emptied create configmap inside");
    expect(await type("delete namespace emptied")).toContain('"emptied" deleted');
    expect(await refused("get namespace emptied")).toContain("NotFound");
  });

  it("watches", async () => {
    const child = spawn(kubectl, withConfig("get", "configmaps", "--watch", "--no-headers"));
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    await eventually(() => printed.includes("applied"));
    cluster.store.create(configMaps, { metadata: { name: "live", namespace: "default" } });
    await eventually(() => printed.includes("live"));
    child.kill();
    await once(child, "exit");
  });

  it("shows what the server refuses, field by field", async () => {
    const file = join(folder, "bad.json");
    await writeFile(file, JSON.stringify(aGadget("bad", { size: 30, bogus: 1 })));
    expect(await refused(`apply -f ${file}`)).toContain('unknown field "spec.bogus"');
    const text = await refused(`apply --validate=warn -f ${file}`);
    expect(text).toContain("spec.size: Invalid value: 30");
  });

  it("explains a custom resource", async () => {
    expect(await type("explain gd.spec")).toMatch(/size\s+<integer>/);
  });
});

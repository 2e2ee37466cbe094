import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type NodeProcess, startNodeProcess } from "./node-process.ts";

const folder = mkdtempSync(join(tmpdir(), "mesh-node-mode-none-"));
const nodes: NodeProcess[] = [];

afterEach(async () => {
  for (const node of nodes.splice(0)) await node.end("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const accountFiles = ["token", "ca.crt", "namespace"];

/** The files of a service account as pipes: whoever reads one waits, and can be seen to wait. */
function accountOfPipes(): string {
  const directory = join(folder, "account");
  mkdirSync(directory, { recursive: true });
  for (const name of accountFiles) execFileSync("mkfifo", [join(directory, name)]);
  return directory;
}

function isBeingRead(pipe: string): boolean {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}

async function start(flags: readonly string[], env: Readonly<Record<string, string>>): Promise<NodeProcess> {
  const program = [process.execPath, "--import", "./test/mesh-node/tell-modules.ts", "src/bin/mesh-node.ts"] as const;
  const node = await startNodeProcess({ flags: ["--data-dir", join(folder, "data"), ...flags], env, program });
  nodes.push(node);
  return node;
}

const loadedBy = (node: NodeProcess): string[] =>
  node.lines().flatMap(({ msg, url }) => (msg === "module loaded" ? String(url) : []));

describe("a node in mode none", () => {
  it("loads nothing that discovers, and reads no file of the service account", async () => {
    const directory = accountOfPipes();
    const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: "1" };
    const node = await start(["--service-account-dir", directory], env);
    expect(await node.call("ListDiscoveredPeers")).toMatchObject({ discoveryMode: "none" });
    const loaded = loadedBy(node);
    expect(loaded.length).toBeGreaterThan(50);
    expect(loaded.filter((url) => /discover-|mdns|bonjour|\/src\/kube\//.test(url))).toEqual([]);
    expect(accountFiles.filter((name) => isBeingRead(join(directory, name)))).toEqual([]);
  });
});

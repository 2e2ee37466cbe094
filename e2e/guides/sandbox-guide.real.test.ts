import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { binary } from "../control-plane/binaries.ts";
import { type Supervised, startSupervised } from "../control-plane/supervised.ts";

const [startSandbox = "", startOperator = "", makeMesh = ""] = [
  ...readFileSync("docs/guides/sandbox.md", "utf8").matchAll(/```sh\n([\s\S]*?)```/g),
].map((match) => match[1]);

let folder: string;
const running: Supervised[] = [];

/** The commands of the guide, in a folder that looks like the root of a checkout. */
async function start(command: string, name: string): Promise<void> {
  const env = { PATH: process.env.PATH ?? "", HOME: folder };
  const logFile = join(folder, `${name}.log`);
  const args = ["-c", `exec ${command}`];
  running.push(await startSupervised({ command: "bash", args, cwd: folder, env, logFile, graceMs: 5000 }));
}

const say = (command: string): string => {
  const PATH = [dirname(binary("kubectl")), process.env.PATH].join(delimiter);
  const env = { PATH, HOME: folder, KUBECONFIG: join(folder, ".sandbox/cluster-a.kubeconfig") };
  return execFileSync("bash", ["-ec", command], { cwd: folder, env, encoding: "utf8", stdio: "pipe" });
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sandbox-guide-"));
  for (const name of ["bin", "src", "scripts", "node_modules", "package.json", "package-lock.json"]) {
    symlinkSync(resolve(name), join(folder, name));
  }
  cpSync("test/fixtures", join(folder, "test/fixtures"), { recursive: true });
});

afterAll(async () => {
  for (const process of running.reverse()) await process.stop();
  rmSync(folder, { recursive: true, force: true });
});

it("the sandbox guide does what it says, from the first command to the last", async () => {
  await start(startSandbox, "sandbox");
  await eventually(() => expect(say("kubectl get nodes")).toContain("cluster-a-3"));
  await start(startOperator, "operator");
  await eventually(() => expect(say("kubectl get crd")).toContain("clustermeshes.kilo.squat.ai"));
  say(makeMesh);
  await eventually(() => {
    expect(say("kubectl get peers -o name").trim().split("\n")).toHaveLength(3);
    expect(say("kubectl get cmesh -A")).toMatch(/READY\s+CLUSTERS\s+PEERS[\s\S]*True\s+2\/2\s+6/);
  });
});

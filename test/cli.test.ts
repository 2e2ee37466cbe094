import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { program } from "../src/cli/main.ts";
import { type Sandbox, startSandbox } from "../src/sandbox/sandbox.ts";

/** The CLI as a person runs it, without a terminal and outside a pod. */
const run = (...words: string[]) => runFile("src/bin/cli.ts", ...words);

function runFile(...words: string[]): { code: number | null; stdout: string; stderr: string } {
  const env = { PATH: process.env.PATH ?? "" };
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8", env });
  return { code: status, stdout, stderr };
}

describe("the demo", () => {
  it("joins the clusters it was asked for and says so in JSON alone", () => {
    const { code, stdout } = run("demo", "--once", "--clusters", "4", "--nodes", "2", "-o", "json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ready: true,
      clusters: ["a", "b", "c", "d"].map((letter) => ({ name: `cluster-${letter}`, nodes: 2, peers: 6 })),
    });
  });

  it("tells a person what happens, without colour where there is no terminal", () => {
    const { code, stdout } = run("demo", "--once", "--clusters", "2", "--nodes", "1");
    expect(code).toBe(0);
    expect(stdout).toContain("cluster-b   + peer  my-mesh--cluster-a--cluster-a-1");
    expect(stdout).toMatch(/CLUSTER {5}NODES {3}PEERS\ncluster-a {3}1 {7}1\n/);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("a wrong command line", () => {
  it.each<[string, string[], RegExp]>([
    ["an unknown command", ["dmo"], /unknown command 'dmo'/],
    ["an unknown flag", ["demo", "--twice"], /unknown option '--twice'/],
    ["a number that is none", ["sandbox", "--clusters", "many"], /must be a whole number/],
    ["an empty number", ["sandbox", "--clusters="], /must be a whole number from 1 to 60/],
    ["more clusters than there are addresses", ["demo", "--clusters", "61"], /whole number from 1 to 60/],
    ["more nodes than there are addresses", ["demo", "--nodes", "255"], /whole number from 0 to 254/],
    ["a folder that is a file", ["sandbox", "--dir", "package.json"], /'package.json' \(EEXIST\); give --dir/],
    ["a folder of nobody", ["sandbox", "--dir="], /cannot write into the folder ''/],
    ["a mesh of one cluster", ["demo", "--clusters", "1"], /at least two clusters/],
    ["an operator without a cluster", ["operator"], /Outside a pod, give --kubeconfig FILE/],
    ["a kubeconfig that is not there", ["operator", "--kubeconfig", "nowhere"], /cannot read 'nowhere' \(ENOENT\)/],
    [
      "a kubeconfig that is none",
      ["operator", "--kubeconfig", "package.json"],
      /package.json cannot be used:\n {2}current-context/,
    ],
    [
      "a licence that is none",
      ["operator", "--kubeconfig-allow", "everything"],
      /known are insecure-tls, proxy, loopback/,
    ],
    ["an address that is none", ["operator", "--metrics-bind-address=8080"], /--metrics-bind-address .*'8080'.*:PORT/],
    ["a network that is none", ["operator", "-allowed-cidr=10.0.0.0"], /--allowed-cidr .*'10.0.0.0'.*not a network/],
    ["a boolean that is none", ["operator", "--leader-elect=maybe"], /--leader-elect .*'maybe'.*true or false/],
    ["an unknown wish for orphans", ["operator", "--legacy-orphans=keep"], /--legacy-orphans .*'keep'.*delete, report/],
    ["no certificate for secure metrics", ["operator", "--metrics-bind-address=:0", "-metrics-secure"], /cert-path/],
  ])("with %s ends with 2 and says what to do", (_, words, expected) => {
    const { code, stderr } = run(...words);
    expect(code).toBe(2);
    expect(stderr).toMatch(expected);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe("the operator's help", () => {
  it("names every flag and fits a terminal of eighty columns", () => {
    const { code, stdout } = run("operator", "--help");
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    const operator = program().commands.find((command) => command.name() === "operator");
    const missing = operator?.options.filter(({ long }) => !stdout.includes(long ?? ""));
    expect(missing).toEqual([]);
  });

  it("is the same in the image, which has the operator alone", () => {
    expect(runFile("src/bin/operator.ts", "--help")).toEqual(run("operator", "--help"));
  });

  it.each(["cli.ts operator", "mesh-node.ts"])("may be read in part, as that of %s", (program) => {
    const words = ["-c", `"${process.execPath}" src/bin/${program} --help | true`];
    expect(spawnSync("sh", words, { encoding: "utf8" }).stderr).toBe("");
  });
});

describe("an operator that cannot start", () => {
  let directory: string;
  let sandbox: Sandbox;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "cannot-start-"));
    sandbox = await startSandbox({ clusters: ["a"] });
  });

  afterAll(async () => {
    await sandbox.stop();
    rmSync(directory, { recursive: true });
  });

  /** Runs against the sandbox with its kubeconfig changed, outside this process: nobody answers there meanwhile. */
  function start(edit: (text: string) => string, ...words: string[]) {
    const file = join(directory, "kubeconfig");
    writeFileSync(file, edit(sandbox.clusters[0]?.kubeconfig() ?? ""));
    return run("operator", "--kubeconfig", file, ...words);
  }

  it("because its port is taken ends with 1 and says which flag to change", () => {
    const { port } = new URL(sandbox.clusters[0]?.url ?? "");
    const { code, stderr } = start((text) => text, `--health-probe-bind-address=127.0.0.1:${port}`);
    expect(code).toBe(1);
    expect(stderr).toContain("the port is in use; give --health-probe-bind-address another address, or 0 for none");
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it("because nobody answers ends with 1 and says what to check", () => {
    const closed = (text: string): string => text.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1");
    const { code, stderr } = start(closed, "--health-probe-bind-address=0");
    expect(code).toBe(1);
    expect(stderr).toMatch(/connection refused\n.*check the server address/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

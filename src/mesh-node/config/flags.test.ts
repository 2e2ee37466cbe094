import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { formatListen, type NodeConfig, parseListen } from "./config.ts";
import { type Environment, ignoredVariables } from "./flag-words.ts";
import { addNodeFlags } from "./flags.ts";
import { readConfig } from "./read-config.ts";
import { remarksOn, showConfig } from "./show-config.ts";

const key = Buffer.alloc(32, 0x2a).toString("base64");
const id = "b".repeat(64);

function read(words: readonly string[], env: Environment = {}): NodeConfig {
  const command = addNodeFlags(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  command.parse([...words], { from: "user" });
  return readConfig(command, env);
}

function withFile<T>(text: string, use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "mesh-node-"));
  try {
    writeFileSync(join(folder, "key"), text);
    return use(join(folder, "key"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("a node for which nobody has set anything", () => {
  it("discovers nothing and serves where peat-node serves", () => {
    const config = read([]);
    expect(showConfig(config)).toMatchObject({
      listen: "tcp://0.0.0.0:50051",
      "data-dir": "/data/peat-node",
      "app-id": "peat-default",
      "shared-key": "none",
      "iroh-udp-port": 0,
      "discovery-mode": "none",
      "discovery-label-selector": "app=peat-node",
      "discovery-annotation-prefix": "peat.",
      "discovery-interval": 30,
      "discovery-publish-id": false,
    });
    expect(config.nodeId).not.toBe(read([]).nodeId);
  });

  it("is told that anyone may join it", () => {
    expect(remarksOn(read([])).map(({ message }) => message)).toEqual([expect.stringContaining("no shared key")]);
    expect(remarksOn(read(["--shared-key", key]))).toEqual([]);
    expect(remarksOn(read(["--shared-key", "c2hvcnQ="]))).toMatchObject([{ message: "shared key is short" }]);
  });
});

describe("the environment", () => {
  it.each<[string, Environment, Partial<Record<string, unknown>>]>([
    ["mode none", { PEAT_NODE_DISCOVERY_MODE: "none" }, { "discovery-mode": "none" }],
    ["mode mdns", { PEAT_NODE_DISCOVERY_MODE: "mdns" }, { "discovery-mode": "mdns" }],
    ["mode kubernetes", { PEAT_NODE_DISCOVERY_MODE: "kubernetes" }, { "discovery-mode": "kubernetes" }],
    ["namespace", { PEAT_NODE_DISCOVERY_NAMESPACE: "blue" }, { "discovery-namespace": "blue" }],
    ["selector", { PEAT_NODE_DISCOVERY_LABEL_SELECTOR: "a=b" }, { "discovery-label-selector": "a=b" }],
    ["prefix", { PEAT_NODE_DISCOVERY_ANNOTATION_PREFIX: "x/" }, { "discovery-annotation-prefix": "x/" }],
    ["interval", { PEAT_NODE_DISCOVERY_INTERVAL: "5" }, { "discovery-interval": 5 }],
    ["publishing", { PEAT_NODE_DISCOVERY_PUBLISH_ID: "true" }, { "discovery-publish-id": true }],
    ["address", { PEAT_NODE_LISTEN: "unix:///run/x.sock" }, { listen: "unix:///run/x.sock" }],
    ["folder", { PEAT_NODE_DATA_DIR: "/x" }, { "data-dir": "/x" }],
    ["name", { PEAT_NODE_NODE_ID: "edge-a" }, { "node-id": "edge-a" }],
    ["pod's name", { POD_NAME: "pod-1" }, { "node-id": "pod-1", "pod-name": "pod-1" }],
    ["formation", { PEAT_NODE_APP_ID: "blue" }, { "app-id": "blue" }],
    ["key", { PEAT_NODE_SHARED_KEY: key }, { "shared-key": "redacted, 32 bytes" }],
    ["UDP port", { PEAT_NODE_IROH_UDP_PORT: "11204" }, { "iroh-udp-port": 11204 }],
    ["peers", { PEAT_NODE_PEERS: `${id}@h:1` }, { peers: [`${id}@h:1`] }],
  ])("may say the %s", (_, env, expected) => {
    expect(showConfig(read([], env))).toMatchObject(expected);
  });

  it("says nothing with an empty variable, and less than the command line", () => {
    const config = read(["--discovery-interval", "7"], {
      PEAT_NODE_DISCOVERY_INTERVAL: "9",
      PEAT_NODE_DISCOVERY_MODE: "",
      PEAT_NODE_PEERS: "",
      POD_NAME: "",
    });
    expect(config.discovery).toMatchObject({ intervalSeconds: 7, mode: "none" });
    expect(config.peers).toEqual([]);
    expect(config.discovery.podName).toBeUndefined();
  });

  it("is named where it means nothing here, but not what Kubernetes makes for a Service called peat-node", () => {
    const names = ignoredVariables(addNodeFlags(new Command()), {
      PEAT_NODE_ENCRYPTION_KEY: "x",
      PEAT_NODE_LISTEN: "y",
      PEAT_NODE_NATS_URL: "",
      PEAT_NODE_SERVICE_HOST: "10.0.0.1",
      PEAT_NODE_SERVICE_PORT: "1",
      PEAT_NODE_PORT: "tcp://10.0.0.1:50051",
      PEAT_NODE_PORT_50051_TCP_ADDR: "10.0.0.1",
      PEAT_NODE_HEADLESS_SERVICE_HOST: "10.0.0.1",
      HOME: "/",
    });
    expect(names).toEqual(["PEAT_NODE_ENCRYPTION_KEY"]);
  });
});

describe("peers", () => {
  it("come repeated or with commas; entries of one id are one peer", () => {
    const other = "c".repeat(64);
    const { peers } = read(["--peer", `${id}@10.0.0.1:1,${other}@[fd00::1]:2`, "--peer", `${id}@name.example:3`]);
    expect(peers).toEqual([
      {
        id,
        addresses: [
          { host: "10.0.0.1", port: 1 },
          { host: "name.example", port: 3 },
        ],
      },
      { id: other, addresses: [{ host: "fd00::1", port: 2 }] },
    ]);
  });

  it.each([
    ["without @", id, "no @"],
    ["with another id", "xyz@h:1", "no endpoint id"],
    ["without port", `${id}@h`, "no host:port"],
    ["with port 0", `${id}@h:0`, "no host:port"],
    ["with a port too high", `${id}@h:65536`, "no host:port"],
    ["with a bare IPv6 address", `${id}@fd00::1:5`, "no host:port"],
  ])("%s are named in the log, and the others stay", (_, entry, problem) => {
    const config = read(["--peer", `${entry},${"c".repeat(64)}@h:1`, "--shared-key", key]);
    expect(config.peers).toHaveLength(1);
    expect(remarksOn(config)).toMatchObject([
      {
        level: "error",
        message: "peer entry cannot be read",
        fields: { entry, problem: expect.stringContaining(problem) },
      },
    ]);
  });
});

describe("the shared key", () => {
  it("may be in a file, which the command line prefers to the environment", () => {
    const inFile = withFile(`${key}\n`, (path) => read(["--shared-key-file", path], { PEAT_NODE_SHARED_KEY: "AAAA" }));
    expect(Buffer.from(inFile.sharedKey).toString("base64")).toBe(key);
    const fromFlag = withFile("AAAA", (path) => read(["--shared-key", key], { PEAT_NODE_SHARED_KEY_FILE: path }));
    expect(Buffer.from(fromFlag.sharedKey).toString("base64")).toBe(key);
  });

  it("that is wrong is refused without being repeated", () => {
    expect(() => read(["--shared-key", "s3cret!"])).toThrow(/^--shared-key is not base64(?!.*s3cret)/);
    expect(() => read([], { PEAT_NODE_SHARED_KEY: "s3cret!" })).toThrow(/^--shared-key is not base64(?!.*s3cret)/);
    expect(() => withFile("s3cret!", (path) => read(["--shared-key-file", path]))).toThrow(/not base64(?!.*s3cret)/);
    expect(() => withFile("\n", (path) => read(["--shared-key-file", path]))).toThrow(/is empty/);
    expect(() => read(["--shared-key-file", "/nowhere/key"])).toThrow(/cannot read \/nowhere\/key/);
    expect(() => read(["--shared-key", key, "--shared-key-file", "x"])).toThrow(/not both/);
  });
});

describe("kubernetes mode", () => {
  it("is told what keeps members from finding it", () => {
    const mode = ["--discovery-mode", "kubernetes"];
    const said = (words: string[], env: Environment): string[] =>
      remarksOn(read([...mode, ...words], env)).map(({ message }) => message);
    const complete = ["--shared-key", key, "--iroh-udp-port", "11204"];
    expect(said(complete, { POD_NAME: "pod-1" })).toEqual([]);
    expect(said(complete, {})).toEqual([expect.stringContaining("POD_NAME is not set")]);
    expect(said(["--shared-key", key], { POD_NAME: "pod-1" })).toEqual([expect.stringContaining("--iroh-udp-port")]);
    expect(said(["--iroh-udp-port", "1"], { POD_NAME: "pod-1" })).toEqual([
      expect.stringContaining("may join"),
      expect.stringContaining("annotation"),
    ]);
  });
});

describe("an address to listen on", () => {
  it.each(["tcp://0.0.0.0:50051", "tcp://[::1]:0", "tcp://localhost:1", "unix:///run/node/api.sock"])("%s", (text) => {
    expect(formatListen(parseListen(text))).toBe(text);
  });

  it.each([
    "",
    "50051",
    "tcp://:1",
    "tcp://h",
    "tcp://h:65536",
    "http://h:1",
    "unix://api.sock",
    "unix:///",
    "tcp://[x]:1",
  ])("is not %s", (text) => expect(() => parseListen(text)).toThrow("give tcp://HOST:PORT"));
});

/** The program as a person runs it. */
function run(words: readonly string[], env: Environment = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["src/bin/mesh-node.ts", ...words], {
    encoding: "utf8",
    env: { PATH: process.env.PATH ?? "", ...env },
  });
  return { code: status, stdout, stderr };
}

describe("a wrong command line", () => {
  it.each<[string, [readonly string[], Environment], RegExp]>([
    ["an unknown mode", [["--discovery-mode", "dns"], {}], /--discovery-mode.*'dns'.*none, mdns, kubernetes/],
    [
      "an unknown mode in the environment",
      [[], { PEAT_NODE_DISCOVERY_MODE: "dns" }],
      /PEAT_NODE_DISCOVERY_MODE \(--discovery-mode\).*'dns'.*none, mdns, kubernetes/,
    ],
    ["no interval at all", [["--discovery-interval", "0"], {}], /--discovery-interval.*'0'.*from 1/],
    ["a negative interval", [["--discovery-interval=-1"], {}], /--discovery-interval.*'-1'.*from 1/],
    ["an interval in words", [["--discovery-interval", "soon"], {}], /--discovery-interval.*'soon'.*from 1/],
    ["a port too high", [["--iroh-udp-port", "65536"], {}], /--iroh-udp-port.*'65536'.*0 to 65535/],
    ["a host that is no address", [["--iroh-udp-host", "localhost"], {}], /--iroh-udp-host.*IP address/],
    ["an empty prefix", [["--discovery-annotation-prefix", ""], {}], /--discovery-annotation-prefix.*it is empty/],
    ["an unknown flag", [["--nats-url", "x"], {}], /unknown option '--nats-url'/],
    ["an unknown command", [["derive"], {}], /unknown command|too many arguments/],
    ["a key that is none", [["--shared-key", "s3cret!"], {}], /--shared-key is not base64/],
    ["nothing to derive from", [["derive-id", "--node-id", "x"], {}], /give --shared-key/],
    ["nobody to derive for", [["derive-id", "--shared-key", key], {}], /give --node-id/],
  ])("with %s ends with 2 and says what to do", (_, [words, env], expected) => {
    const { code, stderr } = run(words, env);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(expected) });
    expect(stderr).not.toMatch(/\n\s+at |s3cret/);
  });
});

describe("what ends at once", () => {
  it("derive-id prints the id and nothing else", () => {
    const { code, stdout, stderr } = run(["derive-id", "--shared-key", key, "--node-id", "node-a"]);
    expect(stdout).toBe("4229afe8d9c12d0acfd98cb56d4e2edd0e844442651a70a6995c2ed7ef100684\n");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("--print-config prints all but the secret", () => {
    const { code, stdout } = run(["--print-config", "--shared-key", key, "--peer", `${id}@h:1`]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ "shared-key": "redacted, 32 bytes", peers: [`${id}@h:1`] });
    expect(stdout).not.toContain(key);
  });

  it("--help names every flag and fits a terminal of eighty columns", () => {
    const { code, stdout } = run(["--help"]);
    expect(code).toBe(0);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    const missing = addNodeFlags(new Command()).options.filter(({ long }) => !stdout.includes(long ?? ""));
    expect(missing).toEqual([]);
  });
});

import { Command } from "commander";
import { describe, expect, it } from "vitest";
import type { OperatorConfig } from "../operator/config.ts";
import { type Environment, readEnvironment, variableOf, withTwoDashes } from "./flag-words.ts";
import { logLevelOf, operatorCommand, operatorConfig } from "./operator.ts";
import { ignoredOf, type OperatorFlags } from "./operator-flags.ts";

interface Read {
  readonly config: OperatorConfig;
  readonly ignored: readonly string[];
  readonly logLevel: string;
}

/** What the operator would be started with, by these words and this environment. */
function read(words: readonly string[], env: Environment = {}): Read {
  let result: Read | undefined;
  const command: Command = operatorCommand();
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  command.action(() => {
    readEnvironment(command, env);
    const flags: OperatorFlags = command.opts();
    result = { config: operatorConfig(flags, env), ignored: ignoredOf(command), logLevel: logLevelOf(flags) };
  });
  new Command().addCommand(command).parse(["operator", ...withTwoDashes(command, words)], { from: "user" });
  if (!result) throw new Error("nothing was read");
  return result;
}

describe("without a flag", () => {
  it("the operator serves probes, no metrics, leads without a lease and limits nobody", () => {
    expect(read([]).config).toEqual({
      instance: "",
      installCrd: true,
      leaderElection: false,
      allow: new Set(),
      allowedCidrs: [],
      localNamespaces: new Set(),
      legacyOrphans: "delete",
      nodeKeepaliveSeconds: 0,
      health: { host: "", port: 8081 },
      metrics: "off",
    });
    expect(read([]).logLevel).toBe("info");
  });
});

describe("the arguments of the Go operator's chart", () => {
  it("mean what they meant", () => {
    const words = [
      "--leader-elect=true",
      "--metrics-bind-address=:8080",
      "--metrics-secure=false",
      "--health-probe-bind-address=:8081",
    ];
    const { config, ignored } = read(words, { POD_NAMESPACE: "kilo" });
    expect(config).toMatchObject({
      leaderElection: { namespace: "kilo" },
      metrics: { address: { host: "", port: 8080 }, tls: false },
      health: { host: "", port: 8081 },
    });
    expect(ignored).toEqual([]);
  });
});

describe("a flag as Go writes it", () => {
  it.each<[string[], boolean]>([
    [["--leader-elect"], true],
    [["-leader-elect"], true],
    [["-leader-elect=false"], false],
    [["--leader-elect=0"], false],
    [["--leader-elect=T"], true],
    [["--leader-elect", "--zap-devel"], true],
  ])("%j is understood", (words, expected) => {
    expect(read(words).config.leaderElection !== false).toBe(expected);
  });

  it("with one dash takes its value too", () => {
    expect(read(["-metrics-bind-address", "127.0.0.1:9090"]).config.metrics).toMatchObject({
      address: { host: "127.0.0.1", port: 9090 },
    });
  });
});

describe("flags of the Go operator without meaning here", () => {
  it("are accepted and named", () => {
    const words = [
      "--enable-http2",
      "--webhook-cert-path=/a",
      "--webhook-cert-name=b",
      "--webhook-cert-key=c",
      "-zap-devel=false",
      "--zap-encoder=console",
      "--zap-stacktrace-level=error",
      "--zap-time-encoding=rfc3339",
    ];
    expect(read(words).ignored).toEqual(words.map((word) => word.replace(/^-+([^=]*).*/, "--$1")));
  });

  it.each([
    ["debug", "debug"],
    ["5", "debug"],
    ["info", "info"],
    ["panic", "error"],
    ["INFO", "info"],
    ["Error", "error"],
  ])("but --zap-log-level=%s is heard", (level, expected) => {
    expect(read([`--zap-log-level=${level}`]).logLevel).toBe(expected);
    expect(read([`--zap-log-level=${level}`, "--log-level=warn"]).logLevel).toBe("warn");
  });
});

describe("the environment", () => {
  it("has a name for every flag", () => {
    expect(variableOf("--metrics-bind-address")).toBe("KILO_CLUSTERMESH_METRICS_BIND_ADDRESS");
    const env = {
      KILO_CLUSTERMESH_LEADER_ELECT: "true",
      KILO_CLUSTERMESH_NAMESPACE: "there",
      KILO_CLUSTERMESH_INSTANCE: "east",
      KILO_CLUSTERMESH_INSTALL_CRD: "false",
      KILO_CLUSTERMESH_KUBECONFIG_ALLOW: "proxy",
      KILO_CLUSTERMESH_ALLOWED_CIDR: "10.0.0.0/8,192.168.0.0/16",
      KILO_CLUSTERMESH_LOCAL_NAMESPACES: "kilo-system",
      KILO_CLUSTERMESH_LEGACY_ORPHANS: "report",
      KILO_CLUSTERMESH_NODE_KEEPALIVE: "25",
      KILO_CLUSTERMESH_HEALTH_PROBE_BIND_ADDRESS: "0",
      KILO_CLUSTERMESH_METRICS_BIND_ADDRESS: "[::1]:9090",
      KILO_CLUSTERMESH_ZAP_DEVEL: "true",
    };
    const { config, ignored } = read([], env);
    expect(config).toMatchObject({
      leaderElection: { namespace: "there" },
      instance: "east",
      installCrd: false,
      allow: new Set(["proxy"]),
      localNamespaces: new Set(["kilo-system"]),
      legacyOrphans: "report",
      nodeKeepaliveSeconds: 25,
      health: "off",
      metrics: { address: { host: "::1", port: 9090 } },
    });
    expect(config.allowedCidrs.map(({ text }) => text)).toEqual(["10.0.0.0/8", "192.168.0.0/16"]);
    expect(ignored).toEqual(["--zap-devel"]);
  });

  it("gives way to the command line, and an empty variable says nothing", () => {
    const env = { KILO_CLUSTERMESH_NODE_KEEPALIVE: "25", KILO_CLUSTERMESH_ALLOWED_CIDR: "" };
    expect(read(["--node-keepalive=10"], env).config).toMatchObject({ nodeKeepaliveSeconds: 10, allowedCidrs: [] });
  });

  it("with a wrong value is refused by name and value", () => {
    expect(() => read([], { KILO_CLUSTERMESH_NODE_KEEPALIVE: "soon" })).toThrow(
      "KILO_CLUSTERMESH_NODE_KEEPALIVE has the invalid value 'soon'. give whole seconds",
    );
    expect(() => read([], { KILO_CLUSTERMESH_LEGACY_ORPHANS: "keep" })).toThrow("KILO_CLUSTERMESH_LEGACY_ORPHANS");
  });
});

describe("a flag that may be given more than once", () => {
  it("adds up", () => {
    const words = ["--allowed-cidr=10.0.0.0/8", "--allowed-cidr", "fd00::/8,192.168.0.0/16"];
    expect(read(words).config.allowedCidrs.map(({ text }) => text)).toEqual([
      "10.0.0.0/8",
      "fd00::/8",
      "192.168.0.0/16",
    ]);
  });
});

describe("secure metrics", () => {
  const on = "--metrics-bind-address=:8443";

  it("need a certificate, and say what else to do", () => {
    expect(() => read([on, "--metrics-secure"])).toThrow(/needs --metrics-cert-path[\s\S]*--metrics-secure=false/);
    expect(read(["--metrics-secure"]).config.metrics).toBe("off");
  });

  it("come with the folder of one", () => {
    const tls = { certFile: "/certs/tls.crt", keyFile: "/certs/tls.key" };
    expect(read([on, "--metrics-cert-path=/certs"]).config.metrics).toMatchObject({ tls });
    const renamed = read([on, "--metrics-cert-path=/certs", "--metrics-cert-name=a", "--metrics-cert-key=b"]);
    expect(renamed.config.metrics).toMatchObject({ tls: { certFile: "/certs/a", keyFile: "/certs/b" } });
    expect(read([on, "--metrics-cert-path=/certs", "--metrics-secure=false"]).config.metrics).toMatchObject({
      tls: false,
    });
  });
});

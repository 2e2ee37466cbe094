import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { chartCrd, chartCrdFile } from "../scripts/chart-crd.ts";
import { chartValues, chartValuesPage, valuesFile, valuesPageFile } from "../scripts/chart-values-page.ts";
import { clusterMeshCrd } from "../src/api/crd.ts";
import { leaseName } from "../src/api/names.ts";
import { operatorCommand } from "../src/cli/operator.ts";
import { version } from "../src/cli/version.ts";

const chart = "charts/kilo-clustermesh-operator";
const read = (path: string): string => readFileSync(path, "utf8");
const template = (name: string): string => read(`${chart}/templates/${name}`);

interface Schema {
  readonly additionalProperties?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const schema = JSON.parse(read(`${chart}/values.schema.json`)) as Schema & Record<string, unknown>;
const values = parse(read(valuesFile)) as Record<string, unknown>;

/** Paths of an object as deep as the schema names members. */
function pathsOf(node: unknown, { properties }: Schema, above: readonly string[] = []): string[] {
  if (!properties || typeof node !== "object" || node === null) return [above.join(".")];
  return Object.entries(node).flatMap(([key, member]) => pathsOf(member, properties[key] ?? {}, [...above, key]));
}

function namedIn({ properties }: Schema, above: readonly string[] = []): string[] {
  if (!properties) return [above.join(".")];
  return Object.entries(properties).flatMap(([key, member]) => namedIn(member, [...above, key]));
}

describe("the chart's values", () => {
  const check = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);

  it("conform to their schema as they are shipped", () => {
    expect(check.safeParse(values).error?.issues).toBeUndefined();
  });

  it.each([
    ["a value that does not exist", { replicas: 2 }],
    ["a member that does not exist", { image: { repo: "x" } }],
    ["a misspelt licence", { kubeconfigAllow: ["loopbak"] }],
    ["an address without a port", { metricsBindAddress: "localhost" }],
    ["a text where a number belongs", { replicaCount: "two" }],
    ["an unknown way to install the definition", { crd: { install: "yes" } }],
  ])("refuse %s", (_, wrong) => {
    expect(check.safeParse({ ...values, ...wrong }).success).toBe(false);
  });

  it("are exactly those that the schema knows, beside what Helm adds for subcharts", () => {
    const optional = ["global", "resources.claims"];
    const known = namedIn(schema).filter((path) => !optional.includes(path));
    expect(pathsOf(values, schema).sort()).toEqual(known.sort());
  });

  it("each say what they are for, and the reference page has them all (node scripts/chart-values-page.ts)", () => {
    const all = chartValues(read(valuesFile));
    expect(all.filter(({ text }) => text === "")).toEqual([]);
    expect(all.length).toBeGreaterThan(35);
    expect(read(valuesPageFile)).toBe(chartValuesPage());
  });

  it("of the Go operator's chart have its defaults, where they mean the same", () => {
    expect(values).toMatchObject({
      image: { tag: "", pullPolicy: "IfNotPresent" },
      replicaCount: 1,
      leaderElect: true,
      metricsBindAddress: ":8080",
      metricsSecure: false,
      healthProbeBindAddress: ":8081",
      nodeSelector: {},
      tolerations: [],
      affinity: {},
      serviceAccount: { create: true, name: "", annotations: {} },
    });
  });
});

describe("the chart", () => {
  it("ships the definition that the operator installs (node scripts/chart-crd.ts)", () => {
    expect(parse(read(chartCrdFile))).toEqual(clusterMeshCrd());
    expect(read(chartCrdFile)).toBe(chartCrd());
  });

  it("runs the version of this source", () => {
    expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({
      name: "kilo-clustermesh-operator",
      appVersion: version,
    });
  });

  it("starts the operator with flags that it has", () => {
    const flags = [...template("deployment.yaml").matchAll(/^ +- (--[a-z-]+)=/gm)].flatMap((match) => match[1] ?? []);
    const known = operatorCommand().options.map(({ long }) => long);
    expect(flags.length).toBeGreaterThan(6);
    expect(flags.filter((flag) => !known.includes(flag))).toEqual([]);
  });

  it("gives the operator its own Lease and its own definition, by name", () => {
    expect(template("role-lease.yaml")).toContain(`resourceNames: [${leaseName}]`);
    expect(template("clusterrole.yaml")).toContain(`resourceNames: [${clusterMeshCrd().metadata.name}]`);
  });
});

describe("the image", () => {
  const built = "dist/operator.mjs";
  const lines = read("Containerfile").split("\n");
  const words = (instruction: string): string[][] =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.split(/\s+/).slice(1));

  it("holds nothing but the file that the build makes of the operator", () => {
    expect(read("scripts/build.ts")).toContain('operator: "src/bin/operator.ts"');
    expect(words("COPY")).toEqual([[built, expect.stringMatching(/^\/[a-z.-]+\.mjs$/)]]);
    expect(words("ADD")).toEqual([]);
    expect(read(".containerignore").trim().split("\n")).toEqual(["*", `!${built}`]);
  });

  it("says where its source is: the cozystack repository, or what the build names", () => {
    const [[argument = ""] = []] = words("ARG");
    expect(argument).toBe("SOURCE_URL=https://github.com/cozystack/kilo-clustermesh-operator");
    const [base, argumentAt] = [lines.findIndex((line) => line.startsWith("FROM ")), lines.indexOf(`ARG ${argument}`)];
    expect(argumentAt).toBeGreaterThan(base);
    expect(lines[argumentAt + 1]).toMatch(/^LABEL org\.opencontainers\.image\.source="\$\{SOURCE_URL\}"/);
  });

  it("starts that file as the user that the chart names", () => {
    const [[, target] = []] = words("COPY");
    expect(read("Containerfile")).toContain(`"${target}"]`);
    expect(words("USER")).toEqual([["65532:65532"]]);
    expect(template("deployment.yaml")).toContain("runAsUser: 65532");
  });

  const entryPoint = JSON.parse(words("ENTRYPOINT")[0]?.join(" ") ?? "[]") as string[];
  const flags = entryPoint.filter((word) => word.startsWith("--"));
  const compiledFor = (given: readonly string[]): string =>
    spawnSync(process.execPath, [...given, "--print", "v8.cachedDataVersionTag()"], { encoding: "utf8" }).stdout;

  it("gives Node flags that it knows, and none that makes it compile its own modules at every start", () => {
    expect(flags).not.toEqual([]);
    expect(compiledFor(flags)).toMatch(/^\d+\n$/);
    expect(compiledFor(flags)).toBe(compiledFor([]));
    expect(compiledFor(["--expose-gc"])).not.toBe(compiledFor([]));
  });

  it("holds the program compiled, for the user that starts it", () => {
    const [run, ...more] = words("RUN");
    expect([JSON.parse(run?.join(" ") ?? ""), more]).toEqual([[entryPoint[0], entryPoint.at(-1), "--version"], []]);
    const order = ["COPY", "USER", "ENV", "RUN"].map((name) => lines.findIndex((line) => line.startsWith(`${name} `)));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(words("ENV").flat()).toContain("NODE_COMPILE_CACHE=/home/nonroot/.cache");
  });
});

describe("a remote cluster", () => {
  it("grants reading nodes, and reading and writing peers, to one ServiceAccount, and no more", () => {
    const objects = parseAllDocuments(read("deploy/remote/rbac.yaml")).map((document) => document.toJSON());
    const rules = objects.filter(({ kind }) => /Role$/.test(kind)).flatMap((role) => role.rules);
    expect(rules).toEqual([
      { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] },
      {
        apiGroups: ["kilo.squat.ai"],
        resources: ["peers"],
        verbs: ["list", "watch", "create", "update", "delete"],
      },
    ]);
    const subjects = objects.flatMap((object) => object.subjects ?? []);
    expect(subjects).toEqual([{ kind: "ServiceAccount", name: "clustermesh-reader", namespace: "kube-system" }]);
  });
});

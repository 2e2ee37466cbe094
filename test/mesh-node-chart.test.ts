import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { buildMeshNode } from "../scripts/build-mesh-node.ts";
import { chartValues, chartValuesPage, meshNodeValues } from "../scripts/chart-values-page.ts";
import { discoveryModes, logLevels, parseSharedKey } from "../src/mesh-node/config/config.ts";
import { addNodeFlags } from "../src/mesh-node/config/flags.ts";
import { linkPortName } from "../src/mesh-node/discovery/slices.ts";
import { version } from "../src/mesh-node/version.ts";
import { configOf, guideBlocks, guideFile, sidecarFile } from "./support/mesh-node-manifests.ts";

const chart = "charts/mesh-node";
const read = (path: string): string => readFileSync(path, "utf8");

interface Schema {
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const schema = JSON.parse(read(`${chart}/values.schema.json`)) as Schema & Record<string, unknown>;
const values = parse(read(meshNodeValues.valuesFile)) as Record<string, unknown>;

/** Paths of an object as deep as the schema names members. */
function pathsOf(node: unknown, { properties }: Schema, above: readonly string[] = []): string[] {
  if (!properties || typeof node !== "object" || node === null) return [above.join(".")];
  return Object.entries(node).flatMap(([key, member]) => pathsOf(member, properties[key] ?? {}, [...above, key]));
}

function namedIn({ properties }: Schema, above: readonly string[] = []): string[] {
  if (!properties) return [above.join(".")];
  return Object.entries(properties).flatMap(([key, member]) => namedIn(member, [...above, key]));
}

describe("the values of mesh-node's chart", () => {
  const check = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  const id = "a".repeat(64);

  it("conform to their schema as they are shipped", () => {
    expect(check.safeParse(values).error?.issues).toBeUndefined();
  });

  it.each([
    ["a value that does not exist", { replicaCount: 2 }],
    ["an unknown kind", { kind: "DaemonSet" }],
    ["an unknown mode", { discovery: { mode: "dns" } }],
    ["an interval of nothing", { discovery: { interval: 0 } }],
    ["an empty selector", { discovery: { labelSelector: " " } }],
    ["a peer without a port", { peers: [`${id}@host`] }],
    ["several peers in one text", { peers: [`${id}@a:1,${id}@b:1`] }],
    ["an address without a port", { listen: "tcp://0.0.0.0" }],
    ["any free port for the API, which no probe could find", { listen: "tcp://0.0.0.0:0" }],
    ["a socket in the root, which is read-only", { listen: "unix:///api.sock" }],
    ["a data folder that is no path", { dataDir: "data" }],
    ["a volume that may only be read", { persistence: { accessModes: ["ReadOnlyMany"] } }],
  ])("refuse %s", (_, wrong) => {
    expect(check.safeParse(wrong).success).toBe(false);
  });

  it.each([
    { listen: "tcp://[::]:50051" },
    { listen: "unix:///run/mesh-node/api.sock" },
    { peers: [`${id}@[fd00::1]:11204`] },
  ])("take %j", (right) => {
    expect(check.safeParse(right).error?.issues).toBeUndefined();
  });

  it("are exactly those that the schema knows, beside what Helm adds for subcharts", () => {
    const optional = ["global", "resources.claims"];
    const known = namedIn(schema).filter((path) => !optional.includes(path));
    expect(pathsOf(values, schema).sort()).toEqual(known.sort());
  });

  it("each say what they are for, and the reference page has them all (node scripts/chart-values-page.ts)", () => {
    const all = chartValues(read(meshNodeValues.valuesFile));
    expect(all.filter(({ text }) => text === "")).toEqual([]);
    expect(all.length).toBeGreaterThan(45);
    expect(read(meshNodeValues.pageFile)).toBe(chartValuesPage(meshNodeValues));
  });

  it("have the program's defaults and choices, but for a UDP port that is fixed", () => {
    const { discovery, formationId, dataDir, logLevel } = configOf([]);
    expect(values).toMatchObject({
      appId: formationId,
      dataDir,
      logLevel,
      listen: "tcp://0.0.0.0:50051",
      discovery: {
        mode: discovery.mode,
        namespace: "",
        labelSelector: discovery.labelSelector,
        annotationPrefix: discovery.annotationPrefix,
        interval: discovery.intervalSeconds,
        publish: discovery.publishId,
      },
    });
    expect(values.irohUdpPort).not.toBe(0);
    expect(schema.properties?.discovery?.properties?.mode?.enum).toEqual(discoveryModes);
    expect(schema.properties?.logLevel?.enum).toEqual(logLevels);
  });
});

describe("mesh-node's chart", () => {
  it("runs the version of this source", () => {
    expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({ name: "mesh-node", appVersion: version });
  });

  it("starts the node with flags that it has", () => {
    const text = read(`${chart}/templates/_container.tpl`);
    const flags = [...text.matchAll(/(--[a-z-]+)=/g)].flatMap((match) => match[1] ?? []);
    const known = addNodeFlags(new Command()).options.map(({ long }) => long);
    expect(flags.length).toBeGreaterThan(12);
    expect(flags.filter((flag) => !known.includes(flag))).toEqual([]);
  });
});

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly stringData?: Readonly<Record<string, string>>;
  readonly rules?: unknown;
  readonly spec: {
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly unknown[];
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: { readonly containers: readonly Container[]; readonly initContainers?: readonly Container[] };
    };
  };
}

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly unknown[];
  readonly restartPolicy?: string;
}

describe.each([
  [guideFile, guideBlocks("yaml")[0] ?? ""],
  [sidecarFile, read(sidecarFile)],
])("the manifests in %s", (_, text) => {
  const objects = parseAllDocuments(text).map((document) => document.toJSON() as Manifest);
  const the = (kind: string): Manifest => {
    const found = objects.filter((object) => object.kind === kind);
    expect(found).toHaveLength(1);
    return found[0] as Manifest;
  };
  const { metadata, spec } = the("Deployment").spec.template;
  const node = [...spec.containers, ...(spec.initContainers ?? [])].find(({ name }) => name === "mesh-node");
  const config = configOf(node?.args ?? []);

  it("start the node with arguments that it takes, in mode kubernetes, with its name and a key", () => {
    expect(config.discovery.mode).toBe("kubernetes");
    expect(node?.args).toContain("--shared-key-file=/mesh-node-key/shared-key");
    expect(node?.env).toEqual([{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }]);
  });

  it("have a Service that selects the pods, that discovery selects, and that names the UDP port", () => {
    const service = the("Service");
    const [key = "", value] = config.discovery.labelSelector.split("=");
    expect(service.metadata.labels?.[key]).toBe(value);
    expect(metadata.labels).toMatchObject(service.spec.selector);
    const { port } = config.udp;
    expect(service.spec.ports).toEqual([{ name: linkPortName, port, targetPort: port, protocol: "UDP" }]);
  });

  it("let the node read EndpointSlices, and nothing else", () => {
    expect(the("Role").rules).toEqual([
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["get", "list", "watch"] },
    ]);
    expect(objects.filter(({ kind }) => /Cluster/.test(kind))).toEqual([]);
  });
});

describe("the key of the sample manifest", () => {
  it("is refused by the node until somebody puts a real one there", () => {
    const [secret] = parseAllDocuments(guideBlocks("yaml")[0] ?? "").map((document) => document.toJSON() as Manifest);
    expect(secret?.kind).toBe("Secret");
    expect(() => parseSharedKey(secret?.stringData?.["shared-key"] ?? "")).toThrow("not base64");
  });
});

describe("mesh-node's image", () => {
  const lines = read("Containerfile.mesh-node").split("\n");
  const words = (instruction: string): string[][] =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.split(/\s+/).slice(1));

  it("holds the folder that the build makes, without the map of its source", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mesh-node-image-"));
    await buildMeshNode(folder);
    const built = readdirSync(folder).filter((name) => !name.endsWith(".map"));
    rmSync(folder, { recursive: true, force: true });
    const copied = words("COPY").flatMap((names) => names.slice(0, -1));
    expect(copied.sort()).toEqual(built.sort());
    expect(words("ADD")).toEqual([]);
  });

  it("starts it as the user that the chart names, with the Node that the chart's probes use", () => {
    expect(lines).toContain('ENTRYPOINT ["/nodejs/bin/node", "/mesh-node/mesh-node.mjs"]');
    expect(words("USER")).toEqual([["65532:65532"]]);
    const container = read(`${chart}/templates/_container.tpl`);
    expect(container).toContain("runAsUser: 65532");
    expect(container).toContain("- /nodejs/bin/node\n");
  });
});

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { guideBlocks } from "../../test/support/mesh-node-manifests.ts";
import { helm, type ToolResult } from "../control-plane/kubectl.ts";
import { type Container, objectsIn, type Rendered, the, type Values } from "./render.ts";

export const meshNodeChart = "charts/mesh-node";

export interface Release {
  readonly release: string;
  readonly namespace: string;
  readonly chart: string;
}

const meshNode: Release = { release: "mesh-node", namespace: "mesh", chart: meshNodeChart };

/** Runs `helm template` in a folder of its own; a refusal is a result. */
export async function template(values: Values = {}, overrides: Partial<Release> = {}): Promise<ToolResult> {
  const { release, namespace, chart } = { ...meshNode, ...overrides };
  return inFolder(async (folder) => {
    const file = join(folder, "values.yaml");
    writeFileSync(file, JSON.stringify(values));
    const words = ["template", release, chart, "--namespace", namespace, "--values", file];
    return helm(words, { kubeconfigFile: join(folder, "none") });
  });
}

/** Runs Helm's strict lint. */
export function lint(): Promise<ToolResult> {
  const words = ["lint", "--strict", meshNodeChart];
  return inFolder((folder) => helm(words, { kubeconfigFile: join(folder, "none") }));
}

/** The objects that the chart makes of these values. */
export async function render(values: Values = {}, overrides: Partial<Release> = {}): Promise<Rendered[]> {
  const { stdout, stderr, code } = await template(values, overrides);
  if (code !== 0) throw new Error(stderr);
  return objectsIn(stdout);
}

/** Why Helm refuses these values. */
export async function refusal(values: Values): Promise<string> {
  const { code, stderr } = await template(values);
  return code === 0 ? "not refused" : stderr;
}

/** The only container of the Deployment or StatefulSet. */
export function nodeIn(objects: readonly Rendered[], kind = "Deployment"): Container {
  const [container, ...more] = the(objects, kind).spec?.template.spec.containers ?? [];
  if (!container || more.length > 0) throw new Error("not exactly one container");
  return container;
}

/** The chart that the guide's reader writes, with ours in it, rendered as release `shop`. */
export async function renderGuidesParent(): Promise<Rendered[]> {
  const [dependencies = "", values = ""] = guideBlocks("yaml").slice(1);
  return inFolder(async (folder) => {
    const chart = join(folder, "shop");
    mkdirSync(join(chart, "templates"), { recursive: true });
    const about = { apiVersion: "v2", name: "shop", version: "0.0.0", ...parse(dependencies) };
    writeFileSync(join(chart, "Chart.yaml"), stringify(about));
    writeFileSync(join(chart, "values.yaml"), values);
    writeFileSync(join(chart, "templates", "shop.yaml"), guideBlocks("helm")[0] ?? "");
    cpSync(meshNodeChart, join(chart, "charts", "mesh-node"), { recursive: true });
    return render({}, { release: "shop", namespace: "shop", chart });
  });
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "chart-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

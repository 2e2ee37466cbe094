import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/kube/object.ts";
import { helm, type ToolResult } from "../control-plane/kubectl.ts";
import type { PolicyRule } from "../control-plane/scoped-access.ts";

export const chart = "charts/kilo-clustermesh-operator";
export const release = "kilo-clustermesh-operator";
export const namespace = "kilo-system";

export type Values = Readonly<Record<string, unknown>>;

/** What the tests look at in the objects of the chart. */
export interface Rendered extends KubeObject {
  readonly spec?: Deployment;
  readonly rules?: readonly PolicyRule[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
  readonly automountServiceAccountToken?: boolean;
}

interface Deployment {
  readonly replicas?: number;
  readonly strategy?: { readonly type: string };
  readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: Pod;
  };
}

export interface Pod {
  readonly serviceAccountName: string;
  readonly containers: readonly Container[];
  readonly [field: string]: unknown;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly [field: string]: unknown;
}

export interface HelmCall {
  readonly release?: string;
  readonly chart?: string;
}

/** Runs `helm template` in a folder of its own; a refusal is a result. */
export async function template(values: Values = {}, call: HelmCall = {}): Promise<ToolResult> {
  const folder = mkdtempSync(join(tmpdir(), "chart-"));
  try {
    const file = join(folder, "values.yaml");
    writeFileSync(file, JSON.stringify(values));
    const words = [
      "template",
      call.release ?? release,
      call.chart ?? chart,
      "--namespace",
      namespace,
      "--values",
      file,
    ];
    return await helm(words, { kubeconfigFile: join(folder, "none") });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The objects that the chart makes of these values. */
export async function render(values: Values = {}, call: HelmCall = {}): Promise<Rendered[]> {
  const { stdout, stderr, code } = await template(values, call);
  if (code !== 0) throw new Error(stderr);
  return objectsIn(stdout);
}

export function objectsIn(manifest: string): Rendered[] {
  return parseAllDocuments(manifest).flatMap((document) => (document.contents ? [document.toJSON() as Rendered] : []));
}

/** Why Helm refuses these values. */
export async function refusal(values: Values): Promise<string> {
  const { code, stderr } = await template(values);
  return code === 0 ? "not refused" : stderr;
}

export const ofKind = (objects: readonly Rendered[], kind: string): Rendered[] =>
  objects.filter((object) => object.kind === kind);

export function the(objects: readonly Rendered[], kind: string): Rendered {
  const [object, ...more] = ofKind(objects, kind);
  if (!object || more.length > 0) throw new Error(`${more.length + (object ? 1 : 0)} objects of kind ${kind}`);
  return object;
}

export function podOf(objects: readonly Rendered[]): Pod {
  const pod = the(objects, "Deployment").spec?.template.spec;
  if (!pod) throw new Error("the Deployment has no pod");
  return pod;
}

export function containerOf(objects: readonly Rendered[]): Container {
  const [container, ...more] = podOf(objects).containers;
  if (!container || more.length > 0) throw new Error("not exactly one container");
  return container;
}

/** The rules of all Roles and ClusterRoles that speak of a resource. */
export function rulesFor(objects: readonly Rendered[], resource: string, group: string): PolicyRule[] {
  return objects
    .flatMap((object) => object.rules ?? [])
    .filter(({ resources, apiGroups }) => resources?.includes(resource) && apiGroups?.includes(group));
}

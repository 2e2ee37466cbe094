import { clusterMeshCrd } from "../src/api/crd.ts";
import { skipReasons, unknownReasons } from "../src/core/reasons.ts";

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** The reference page of ClusterMesh, made from the CRD's schema and the tables of reasons. */
export function clusterMeshPage(): string {
  const { properties = {} } = rootSchema();
  return [
    "# ClusterMesh",
    "",
    "`kilo.squat.ai/v1alpha1`, namespaced, short name `cmesh`. Made by `npm run docs` from the schema: edit that instead.",
    "",
    "## spec",
    "",
    ...fieldTable(rows("spec", properties.spec)),
    "## status",
    "",
    "`Accepted` says whether the spec can be used as it is; `Ready` is computed from facts: every cluster known, every",
    "target synced, every write done.",
    "",
    ...fieldTable(rows("status", properties.status)),
    "## Why a node is skipped",
    "",
    ...reasonTable(skipReasons),
    "## Why a cluster is unknown",
    "",
    "The Peers of an unknown cluster stay as they are in all the others.",
    "",
    ...reasonTable(unknownReasons),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}

function rootSchema(): Schema {
  const spec = clusterMeshCrd().spec as { versions: { schema: { openAPIV3Schema: Schema } }[] };
  return spec.versions[0]?.schema.openAPIV3Schema ?? {};
}

type Row = readonly [path: string, type: string, limits: string, description: string];

function rows(path: string, schema: Schema | undefined): Row[] {
  return Object.entries(schema?.properties ?? {}).flatMap(([name, field]) => {
    const here = `${path}.${name}`;
    const own: Row = [here, typeOf(field), limitsOf(field, schema?.required?.includes(name)), field.description ?? ""];
    const inside = field.type === "array" ? rows(`${here}[]`, field.items) : rows(here, field);
    return [own, ...inside];
  });
}

const typeOf = ({ type = "", items }: Schema): string => (type === "array" ? `${items?.type ?? "any"}[]` : type);

function limitsOf({ default: standard, minimum, maximum, enum: words }: Schema, required = false): string {
  return [
    required ? "required" : "",
    standard === undefined ? "" : `default ${standard}`,
    minimum === undefined ? "" : maximum === undefined ? `≥ ${minimum}` : `${minimum}–${maximum}`,
    words?.join(", ") ?? "",
  ]
    .filter(Boolean)
    .join("; ");
}

function fieldTable(fields: readonly Row[]): string[] {
  const lines = fields.map(([path, type, limits, text]) => `| \`${path}\` | ${type} | ${limits} | ${text} |`);
  return ["| field | type | | |", "|---|---|---|---|", ...lines, ""];
}

type Reasons = Readonly<Record<string, { readonly waits: boolean; readonly hint: string }>>;

function reasonTable(reasons: Reasons): string[] {
  const lines = Object.entries(reasons).map(
    ([reason, { waits, hint }]) => `| \`${reason}\` | ${waits ? "waits" : "needs a person"} | ${hint} |`,
  );
  return ["| reason | | what to do |", "|---|---|---|", ...lines, ""];
}

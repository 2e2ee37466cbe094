import { clusterMeshCrd } from "../src/api/crd.ts";
import { conditionReasons, informationReasons, noteReasons, skipReasons, unknownReasons } from "../src/core/reasons.ts";

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
    ...conditionsText,
    ...fieldTable(rows("status", properties.status)),
    "## Why a node is skipped",
    "",
    ...reasonTable(skipReasons),
    "## Why a cluster is unknown",
    "",
    "The Peers of an unknown cluster stay as they are in all the others.",
    "",
    ...reasonTable(unknownReasons),
    "## What works, but not as declared",
    "",
    "In `status.clusters[].notes`. None of these keeps a mesh from being Ready.",
    "",
    ...reasonTable(without(noteReasons, informationReasons)),
    "## What is good to know",
    "",
    "In `status.clusters[].notes` too. None of these makes a mesh Degraded.",
    "",
    ...reasonTable(informationReasons),
    "## Why a mesh is not Ready, or is Degraded",
    "",
    "The reasons above count too: `Degraded` names the most telling of all, its message the others.",
    "",
    ...reasonTable(conditionReasons),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}

const conditionsText = [
  "| condition | True means |",
  "|---|---|",
  "| `Accepted` | the spec can be used as it is; if not, its Peers stay as they are and no cluster is reported |",
  "| `Ready` | every cluster is known and has a node that is peered, every write is done, nothing is held back |",
  "| `Degraded` | something needs a person, or works otherwise than declared; a mesh can be Ready and Degraded |",
  "| `NetworksOverlap` | networks overlap: of this mesh, or of another one that shares a cluster with it |",
  "| `WithdrawalHeld` | Peers stay until it is proven that their nodes are gone |",
  "",
  "A credential that ends within seven days, or has ended, is `Degraded`; nobody has to look for it to be said. Every",
  "change of `Ready`, of the state of a cluster and every new note is an Event too, at most twenty in ten minutes.",
  "",
];

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

const without = (reasons: Reasons, others: Reasons): Reasons =>
  Object.fromEntries(Object.entries(reasons).filter(([reason]) => !(reason in others)));

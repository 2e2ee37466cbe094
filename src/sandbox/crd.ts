import { sameJson } from "../api/same-json.ts";
import { plainRules } from "./builtin-rules.ts";
import { type FieldProblem, invalidValue, required } from "./field-problem.ts";
import { isMap, type JsonMap, listOf, mapOf } from "./json.ts";
import { isJsonPath } from "./json-path.ts";
import { timestamp } from "./prepare.ts";
import { customColumns } from "./printer-columns.ts";
import type { Schema } from "./schema.ts";
import type { Rules, ServedResource } from "./served-resource.ts";
import { structuralProblems } from "./structural-schema.ts";
import type { WireObject } from "./wire-object.ts";

/** Holds a CustomResourceDefinition until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

export function isDefinition({ storedAs }: ServedResource): boolean {
  return storedAs === "customresourcedefinitions.apiextensions.k8s.io";
}

/** A definition is served from the moment it is stored, so its conditions are true from the start. */
export function crdRules(now: () => Date): Rules {
  return {
    ...plainRules,
    generation: "spec",
    unconditionalUpdate: false,
    status: "guarded",
    metaThroughStatus: false,
    prepare: (next, previous) => withStatus(withSpecDefaults(next), previous, now()),
    validate: validateDefinition,
  };
}

/** The resources that a definition makes the server serve, one per served version. */
export function servedBy(definition: WireObject): readonly ServedResource[] {
  const spec = mapOf(definition.spec);
  return listOf(spec.versions)
    .map(mapOf)
    .filter((version) => version.served === true)
    .map((version) => servedVersion(spec, version));
}

function servedVersion(spec: JsonMap, version: JsonMap): ServedResource {
  const names = mapOf(spec.names);
  const hasStatus = isMap(mapOf(version.subresources).status);
  return {
    group: String(spec.group),
    version: String(version.name),
    plural: String(names.plural),
    singular: String(names.singular),
    kind: String(names.kind),
    listKind: String(names.listKind),
    shortNames: listOf(names.shortNames).map(String),
    categories: listOf(names.categories).map(String),
    namespaced: spec.scope === "Namespaced",
    storedAs: `${names.plural}.${spec.group}`,
    custom: true,
    rules: { ...customRules, status: hasStatus ? "guarded" : "none" },
    columns: customColumns(listOf(version.additionalPrinterColumns).map(mapOf)),
    schema: mapOf(mapOf(version.schema).openAPIV3Schema) as Schema,
    fields: [],
    selectableFields: listOf(version.selectableFields).map((field) => String(mapOf(field).jsonPath).slice(1)),
  };
}

const customRules: Rules = {
  ...plainRules,
  generation: "content",
  unconditionalUpdate: false,
  metaThroughStatus: false,
};

function withSpecDefaults(definition: WireObject): WireObject {
  const spec = mapOf(definition.spec);
  const names = mapOf(spec.names);
  const kind = String(names.kind ?? "");
  return {
    ...definition,
    spec: {
      conversion: { strategy: "None" },
      ...spec,
      names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names },
    },
  };
}

function withStatus(definition: WireObject, previous: WireObject | undefined, now: Date): WireObject {
  const spec = mapOf(definition.spec);
  const before = mapOf(previous?.status);
  const storage = listOf(spec.versions)
    .map(mapOf)
    .find((version) => version.storage === true)?.name;
  const stored = new Set([...listOf(mapOf(definition.status).storedVersions ?? before.storedVersions), storage]);
  const status = {
    conditions: before.conditions ?? establishedConditions(now),
    acceptedNames: spec.names,
    storedVersions: [...stored].filter((name) => name !== undefined),
  };
  return { ...definition, status };
}

/** A definition that is being deleted, held until its objects are gone. */
export function terminating(definition: WireObject, lastTransitionTime: string): WireObject {
  const status = mapOf(definition.status);
  const condition = {
    type: "Terminating",
    status: "True",
    lastTransitionTime,
    reason: "InstanceDeletionPending",
    message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
  };
  const finalizers = [...(definition.metadata.finalizers ?? []), cleanupFinalizer];
  return {
    ...definition,
    metadata: { ...definition.metadata, finalizers },
    status: { ...status, conditions: [...listOf(status.conditions), condition] },
  };
}

function establishedConditions(now: Date): readonly JsonMap[] {
  const lastTransitionTime = timestamp(now);
  const accepted = { reason: "NoConflicts", message: "no conflicts found" };
  const established = { reason: "InitialNamesAccepted", message: "the initial names have been accepted" };
  return [
    { type: "NamesAccepted", status: "True", lastTransitionTime, ...accepted },
    { type: "Established", status: "True", lastTransitionTime, ...established },
  ];
}

function validateDefinition(definition: WireObject): FieldProblem[] {
  const spec = mapOf(definition.spec);
  const names = mapOf(spec.names);
  const expected = `${names.plural}.${spec.group}`;
  const problems: FieldProblem[] = [];
  if (definition.metadata.name !== expected) {
    problems.push(invalidValue("metadata.name", definition.metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  if (!spec.group) problems.push(required("spec.group"));
  else if (!String(spec.group).includes(".")) {
    problems.push(invalidValue("spec.group", spec.group, "should be a domain with at least one dot"));
  }
  if (spec.scope !== "Namespaced" && spec.scope !== "Cluster") problems.push(required("spec.scope"));
  for (const name of ["plural", "singular", "kind", "listKind"]) {
    if (!names[name]) problems.push(required(`spec.names.${name}`));
  }
  return [...problems, ...validateVersions(listOf(spec.versions).map(mapOf))];
}

function validateVersions(versions: readonly JsonMap[]): FieldProblem[] {
  const schemas = versions.map((version) => mapOf(version.schema).openAPIV3Schema);
  const shared = schemas.every((schema) => sameJson(schema, schemas[0]));
  const problems = versions.flatMap((version, index) => {
    const schema = schemas[index];
    const columns = listOf(version.additionalPrinterColumns).map(mapOf);
    if (!isMap(schema)) return [required(`spec.versions[${index}].schema.openAPIV3Schema`)];
    if (shared && index > 0) return [];
    // A schema that all versions share is reported where the first API of definitions had it.
    const [validation, place] = shared ? ["spec.validation", "spec"] : versionPaths(index);
    return [
      ...columnProblems(columns, `${place}.additionalPrinterColumns`),
      ...structuralProblems(schema as Schema, `${validation}.openAPIV3Schema`),
    ];
  });
  if (versions.filter((version) => version.storage === true).length !== 1) {
    const rule = "must have exactly one version marked as storage version";
    problems.push(invalidValue("spec.versions", versions, rule));
  }
  return problems;
}

function versionPaths(index: number): readonly [schema: string, version: string] {
  return [`spec.versions[${index}].schema`, `spec.versions[${index}]`];
}

const columnTypes = ["boolean", "date", "integer", "number", "string"];

function columnProblems(columns: readonly JsonMap[], place: string): FieldProblem[] {
  return columns.flatMap(({ name, type, jsonPath }, index) => {
    const path = `${place}[${index}]`;
    const problems = [
      ...(name ? [] : [required(`${path}.name`)]),
      ...(jsonPath ? [] : [required(`${path}.JSONPath`)]),
      ...(columnTypes.includes(String(type))
        ? []
        : [invalidValue(`${path}.type`, type ?? "", `must be one of ${columnTypes.join(",")}`)]),
    ];
    if (jsonPath && !isJsonPath(String(jsonPath))) {
      problems.push(invalidValue(`${path}.JSONPath`, jsonPath, "must be a simple json path starting with ."));
    }
    return problems;
  });
}

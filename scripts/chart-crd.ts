// Writes the definition that the chart installs with `crd.install: chart`. A test fails while it is not up to date.
import { writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { clusterMeshCrd } from "../src/api/crd.ts";

export const chartCrdFile = "charts/kilo-clustermesh-operator/crd/clustermeshes.yaml";

/** The text of the chart's definition: what the operator itself would install. */
export function chartCrd(): string {
  return `# Made from src/api/schema.ts: edit that instead.\n${stringify(clusterMeshCrd(), { aliasDuplicateObjects: false })}`;
}

if (import.meta.main) writeFileSync(chartCrdFile, chartCrd());

// `npm run docs`: writes the pages that are made from the code. A test fails while they are not up to date.
import { writeFileSync } from "node:fs";
import { chartCrd, chartCrdFile } from "./chart-crd.ts";
import { writeValuesPages } from "./chart-values-page.ts";
import { clusterMeshPage } from "./reference-page.ts";

writeFileSync("docs/reference/cluster-mesh.md", clusterMeshPage());
writeFileSync(chartCrdFile, chartCrd());
writeValuesPages();

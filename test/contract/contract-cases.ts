import { absenceCases } from "./absence-cases.ts";
import { builtInCases } from "./built-in-cases.ts";
import type { ContractCase } from "./contract-case.ts";
import { credentialCases } from "./credential-cases.ts";
import { crudCases } from "./crud-cases.ts";
import { definitionCases } from "./definition-cases.ts";
import { finalizerCases } from "./finalizer-cases.ts";
import { listCases } from "./list-cases.ts";
import { meshCases } from "./mesh-cases.ts";
import { operatorKindCases } from "./operator-kind-cases.ts";
import { patchCases } from "./patch-cases.ts";
import { protocolCases } from "./protocol-cases.ts";
import { schemaCases } from "./schema-cases.ts";
import { selectorCases } from "./selector-cases.ts";
import { statusCases } from "./status-cases.ts";
import { versionCases } from "./version-cases.ts";
import { watchCases } from "./watch-cases.ts";
import { writeConflictCases } from "./write-conflict-cases.ts";

/** What every server must do. Where two differ, the real one is right. */
export const contractCases: readonly ContractCase[] = [
  ...crudCases,
  ...absenceCases,
  ...credentialCases,
  ...writeConflictCases,
  ...versionCases,
  ...patchCases,
  ...finalizerCases,
  ...statusCases,
  ...listCases,
  ...watchCases,
  ...selectorCases,
  ...definitionCases,
  ...schemaCases,
  ...builtInCases,
  ...operatorKindCases,
  ...meshCases,
  ...protocolCases,
];

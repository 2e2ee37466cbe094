import { describe, expect, it } from "vitest";
import { clusterMeshCrd, conforms } from "./crd.ts";

const wanted = clusterMeshCrd().spec as Record<string, unknown>;

/** What an API server adds to a definition it stores. */
const stored = (): Record<string, unknown> => ({ ...structuredClone(wanted), conversion: { strategy: "None" } });

const schemaIn = (spec: Record<string, unknown>) =>
  (spec as { versions: { schema: { openAPIV3Schema: { properties: Record<string, unknown> } } }[] }).versions[0]?.schema
    .openAPIV3Schema;

describe("a definition that the API server holds", () => {
  it("conforms with the server's own additions", () => {
    expect(conforms(stored(), wanted)).toBe(true);
  });

  it("does not conform with a property more or less in its schema", () => {
    const more = stored();
    Object.assign(schemaIn(more)?.properties ?? {}, { stale: { type: "string" } });
    const less = stored();
    delete schemaIn(less)?.properties.status;
    expect([conforms(more, wanted), conforms(less, wanted)]).toEqual([false, false]);
  });

  it("does not conform with another short name or no status subresource", () => {
    expect(conforms({ ...stored(), names: { kind: "ClusterMesh" } }, wanted)).toBe(false);
  });
});

describe("the schema", () => {
  it("has nothing that a structural schema may not have", () => {
    const text = JSON.stringify(wanted);
    for (const word of ["$schema", "additionalProperties", "anyOf", "oneOf", "9007199254740991", '"const"']) {
      expect(text).not.toContain(word);
    }
  });
});

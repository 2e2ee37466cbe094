import { describe, expect, it } from "vitest";
import { gadgetDefinition } from "../../test/sandbox/gadget.ts";
import { type Schema, shape } from "./schema.ts";
import { validate } from "./schema-validation.ts";

const [version] = gadgetDefinition.spec.versions;
const schema = version?.schema.openAPIV3Schema as unknown as Schema;
const problems = (spec: unknown) =>
  validate({ spec }, schema).map(({ type, field }) => `${type.replace("FieldValue", "")} ${field}`);

describe("a structural schema", () => {
  it("drops what it does not know and says so", () => {
    const object = {
      apiVersion: "v1",
      kind: "X",
      metadata: {},
      spec: { size: 1, bogus: 1, clusters: [{ name: "a", x: 1 }] },
    };
    const { value, unknown } = shape(object, schema);
    expect(value).toMatchObject({ spec: { size: 1, clusters: [{ name: "a" }] } });
    expect(unknown).toEqual(["spec.bogus", "spec.clusters[0].x"]);
  });

  it("keeps what is free", () => {
    const { value, unknown } = shape({ spec: { free: { any: [{ thing: 1 }] } } }, schema);
    expect(value).toMatchObject({ spec: { free: { any: [{ thing: 1 }] } } });
    expect(unknown).toEqual([]);
  });

  it("fills in defaults at any depth and where a null stands for nothing", () => {
    const { value } = shape({ spec: { size: 1, color: null, clusters: [{ name: "a" }] } }, schema);
    expect(value).toMatchObject({ spec: { color: "red", clusters: [{ name: "a", port: 51820 }] } });
  });

  it("keeps a null that is allowed and drops one that is not", () => {
    expect(shape({ spec: { note: null, name: null } }, schema).value).toEqual({ spec: { note: null, color: "red" } });
  });

  it.each([
    ["a missing field", {}, "Required spec.size"],
    ["a wrong type", { size: "x" }, "TypeInvalid spec.size"],
    ["a fraction for an integer", { size: 1.5 }, "TypeInvalid spec.size"],
    ["a number that is too large", { size: 11 }, "Invalid spec.size"],
    ["a number that is too small", { size: 0 }, "Invalid spec.size"],
    ["a value that is not listed", { size: 1, color: "green" }, "NotSupported spec.color"],
    ["a text that is too long", { size: 1, name: "abcdef" }, "TooLong spec.name"],
    ["a text of the wrong form", { size: 1, name: "A" }, "Invalid spec.name"],
    ["a value twice in a set", { size: 1, tags: ["a", "a"] }, "Duplicate spec.tags[1]"],
    ["a key twice in a map list", { size: 1, clusters: [{ name: "a" }, { name: "a" }] }, "Duplicate spec.clusters[1]"],
    ["an item without its key", { size: 1, clusters: [{}] }, "Required spec.clusters[0].name"],
    ["an empty text", { size: 1, clusters: [{ name: "" }] }, "Invalid spec.clusters[0].name"],
    ["too few items", { size: 1, clusters: [] }, "Invalid spec.clusters"],
    ["too many items", { size: 1, clusters: ["a", "b", "c", "d"].map((name) => ({ name })) }, "TooMany spec.clusters"],
    ["a flag where a number or a text goes", { size: 1, port: true }, "TypeInvalid spec.port"],
  ])("refuses %s", (_, spec, problem) => {
    expect(problems(spec)).toContain(problem);
  });

  it.each([
    ["a number or a text where both go", { size: 1, port: "http" }],
    ["a number where both go", { size: 1, port: 80 }],
    [
      "everything at once",
      { size: 10, color: "blue", name: "abc", note: null, tags: ["a", "b"], clusters: [{ name: "a" }] },
    ],
  ])("accepts %s", (_, spec) => {
    expect(problems(spec)).toEqual([]);
  });
});

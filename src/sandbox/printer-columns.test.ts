import { describe, expect, it } from "vitest";
import { humanAge } from "./age.ts";
import { parseJsonPath, valuesAt } from "./json-path.ts";
import { customColumns } from "./printer-columns.ts";

const object = {
  metadata: { name: "x", creationTimestamp: "2030-01-01T00:00:00Z", annotations: { "a.b/c": "dotted" } },
  spec: { size: 3, list: ["a", "b"] },
  status: {
    conditions: [
      { type: "Other", status: "False" },
      { type: "Ready", status: "True" },
    ],
  },
};

describe("a JSONPath of a printer column", () => {
  it.each([
    [".spec.size", [3]],
    ["{.spec.size}", [3]],
    ["spec.size", [3]],
    [".spec.list[1]", ["b"]],
    [".spec.list[-1]", ["b"]],
    [".spec.list[*]", ["a", "b"]],
    [".status.conditions[?(@.type=='Ready')].status", ["True"]],
    ['.status.conditions[?(@.type == "Ready")].status', ["True"]],
    [".status.conditions[?(@.type!='Ready')].status", ["False"]],
    [".metadata.annotations.a\\.b/c", ["dotted"]],
    [".metadata.annotations['a.b/c']", ["dotted"]],
    [".spec.nothing.there", []],
  ])("%s leads to %j", (path, values) => {
    expect(valuesAt(parseJsonPath(path), object)).toEqual(values);
  });

  it("is refused when it cannot be read", () => {
    expect(() => parseJsonPath(".spec[?(")).toThrow("JSONPath");
  });
});

describe("an age", () => {
  const now = new Date("2030-01-10T00:00:00Z");
  it.each([
    [5, "5s"],
    [119, "119s"],
    [125, "2m5s"],
    [600, "10m"],
    [3 * 3600, "3h"],
    [3 * 3600 + 120, "3h2m"],
    [50 * 3600, "2d2h"],
    [9 * 86400, "9d"],
    [-30, "<invalid>"],
  ])("of %d seconds reads %s", (seconds, text) => {
    expect(humanAge(new Date(now.getTime() - seconds * 1000).toISOString(), now)).toBe(text);
  });

  it("is unknown without a time", () => {
    expect(humanAge(undefined, now)).toBe("<unknown>");
  });
});

describe("the columns of a custom resource", () => {
  it("show values by their type, and nothing where there is none", () => {
    const columns = customColumns([
      { name: "Size", type: "integer", jsonPath: ".spec.size" },
      { name: "List", type: "string", jsonPath: ".spec.list" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
      { name: "Missing", type: "string", jsonPath: ".spec.missing" },
    ]);
    const now = new Date("2030-01-01T00:01:00Z");
    expect(columns.map((column) => column.value(object, now))).toEqual(["x", 3, '["a","b"]', "60s", null]);
  });

  it("are the name and the age when none are declared", () => {
    expect(customColumns([]).map((column) => column.name)).toEqual(["Name", "Age"]);
  });
});

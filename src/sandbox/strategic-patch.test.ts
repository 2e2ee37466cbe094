import { describe, expect, it } from "vitest";
import { strategicPatched } from "./strategic-patch.ts";

describe("a strategic merge patch", () => {
  it("merges maps and removes what is null", () => {
    expect(strategicPatched({ a: { b: 1, c: 2 } }, { a: { b: null, d: 3 } })).toEqual({ a: { c: 2, d: 3 } });
  });

  it("merges list items by their key and puts new ones first, as the API does", () => {
    const status = { addresses: [{ type: "InternalIP", address: "1" }] };
    const patch = { addresses: [{ type: "ExternalIP", address: "2" }] };
    expect(strategicPatched(status, patch).addresses).toEqual([patch.addresses[0], status.addresses[0]]);
    expect(strategicPatched(status, { addresses: [{ type: "InternalIP", address: "3" }] }).addresses).toEqual([
      { type: "InternalIP", address: "3" },
    ]);
  });

  it("replaces a list that has no key", () => {
    expect(strategicPatched({ taints: [{ key: "a" }] }, { taints: [{ key: "b" }] })).toEqual({
      taints: [{ key: "b" }],
    });
  });

  it("adds to a list of plain values and takes from it", () => {
    expect(strategicPatched({ finalizers: ["a"] }, { finalizers: ["b"] }).finalizers).toEqual(["b", "a"]);
    expect(strategicPatched({ finalizers: ["a", "b"] }, { "$deleteFromPrimitiveList/finalizers": ["a"] })).toEqual({
      finalizers: ["b"],
    });
  });

  it("deletes one item", () => {
    const containers = [{ name: "a" }, { name: "b" }];
    expect(strategicPatched({ containers }, { containers: [{ $patch: "delete", name: "a" }] })).toEqual({
      containers: [{ name: "b" }],
    });
  });

  it("replaces a map or a list where it is told to", () => {
    expect(strategicPatched({ a: { b: 1 } }, { a: { $patch: "replace", c: 2 } })).toEqual({ a: { c: 2 } });
    const containers = [{ name: "a" }];
    expect(strategicPatched({ containers }, { containers: [{ name: "b" }, { $patch: "replace" }] })).toEqual({
      containers: [{ name: "b" }],
    });
  });

  it("orders items as it is told to", () => {
    const target = { containers: [{ name: "a" }, { name: "b" }] };
    const patch = {
      "$setElementOrder/containers": [{ name: "b" }, { name: "a" }],
      containers: [{ name: "a", image: "x" }],
    };
    expect(strategicPatched(target, patch).containers).toEqual([{ name: "b" }, { name: "a", image: "x" }]);
  });

  it("keeps only the named keys where it is told to", () => {
    const patch = { strategy: { $retainKeys: ["type"], type: "Recreate" } };
    expect(strategicPatched({ strategy: { type: "Rolling", rollingUpdate: {} } }, patch)).toEqual({
      strategy: { type: "Recreate" },
    });
  });
});

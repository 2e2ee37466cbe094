import { describe, expect, it } from "vitest";
import { aNode, aView, unknown } from "../../test/support/build.ts";
import { fateOf } from "./leaving.ts";

const one = aView([aNode(1, 0)]);
const two = aView([aNode(2, 0)]);

describe("a cluster that no mesh names any more", () => {
  it("is drained when it is certain that no other connection leads to it", () => {
    expect(fateOf(one, [two])).toBe("drain");
  });

  it("is left as it is when another connection leads to the same nodes: only the credentials changed", () => {
    expect(fateOf(one, [two, aView([aNode(1, 0), aNode(1, 1)])])).toBe("close");
  });

  it("waits while it, or any other cluster, is unknown", () => {
    expect(fateOf(aView([], { nodes: unknown }), [two])).toBe("wait");
    expect(fateOf(one, [aView([], { nodes: unknown })])).toBe("wait");
  });
});

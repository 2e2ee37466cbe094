import { describe, expect, it } from "vitest";
import { aKey, aMesh, aNode, aView } from "../../test/support/build.ts";
import { settledStatus } from "../../test/support/mesh-status.ts";
import { parseDiscovered } from "./discovered.ts";
import { nodeName } from "./ids.ts";
import type { ClusterView } from "./world.ts";

const mesh = aMesh(3);

/** What nodes of a cluster report of the keys of these nodes. */
function meeting(...names: string[]): ClusterView["observed"] {
  const entries = names.map((name) => [aKey(name), { IP: "203.0.113.9", Port: 4500 }]);
  return new Map([[nodeName("reporter"), parseDiscovered(JSON.stringify(Object.fromEntries(entries)))]]);
}

/** The links of the first of three clusters, given what each of the others reports. */
function linksOfFirst(two: Partial<ClusterView>, three: Partial<ClusterView>) {
  const views = [aView([aNode(1, 0), aNode(1, 1)]), aView([aNode(2, 0)], two), aView([aNode(3, 0)], three)];
  return settledStatus({ meshes: [mesh], views }).clusters[0]?.links;
}

describe("Kilo's rules, kept by the status", () => {
  it("R17: a Peer that exists is no link that is up, a handshake that the other side reports is", () => {
    expect(linksOfFirst({}, {})).toEqual({ up: 0, expected: 4 });
    expect(linksOfFirst({ observed: meeting("c1-n0") }, {})).toEqual({ up: 1, expected: 4 });
    const both = { observed: meeting("c1-n0", "c1-n1") };
    expect(linksOfFirst(both, both)).toEqual({ up: 4, expected: 4 });
  });

  it("R17: what one cluster has met says nothing of another, and keys of nobody count for nothing", () => {
    expect(linksOfFirst({ observed: meeting("c1-n0", "c2-n0", "stranger") }, {})).toEqual({ up: 1, expected: 4 });
  });

  it("R17: several nodes that met the same node are one link", () => {
    const [, seen] = [...meeting("c1-n0")][0] ?? [];
    const observed = new Map([nodeName("a"), nodeName("b")].map((name) => [name, seen ?? new Map()]));
    expect(linksOfFirst({ observed }, {})).toEqual({ up: 1, expected: 4 });
  });

  it("R17: where nodes cannot be asked, nothing is expected of them", () => {
    const nodes = { state: "unknown", reason: "Unreachable" } as const;
    expect(linksOfFirst({ nodes, observed: meeting("c1-n0") }, {})).toEqual({ up: 0, expected: 2 });
  });

  it("R17: a node that is skipped has no links", () => {
    const views = [
      aView([aNode(1, 0), aNode(1, 1, { key: "" })]),
      aView([aNode(2, 0)], { observed: meeting("c1-n1") }),
    ];
    expect(settledStatus({ meshes: [aMesh(2)], views }).clusters[0]?.links).toEqual({ up: 0, expected: 1 });
  });
});

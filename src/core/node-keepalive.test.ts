import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, conn } from "../../test/support/build.ts";
import type { NodeFacts } from "./node.ts";
import { keepaliveChanges } from "./node-keepalive.ts";

function changes(facts: Partial<NodeFacts>, { keepalive = 25, floor = 0, inMesh = true } = {}) {
  const meshes = inMesh ? [aMesh(2, { persistentKeepalive: keepalive })] : [];
  const world = aWorld({ meshes, views: [aView([aNode(1, 0)]), aView([aNode(2, 0, facts)])] });
  return keepaliveChanges(world, conn(2), floor);
}

const ours = (seconds: string): Partial<NodeFacts> => ({ keepalive: seconds, keepaliveMark: seconds });

describe("R7, R8: the keepalive of a node", () => {
  it("is set where nobody has set it, when a mesh or the operator's owner asks for it", () => {
    expect(changes({})).toEqual([{ node: "c2-n0", seconds: 25 }]);
    expect(changes({}, { keepalive: 0, floor: 10 })).toEqual([{ node: "c2-n0", seconds: 10 }]);
    expect(changes({}, { keepalive: 0 })).toEqual([]);
  });

  it("of a person is never touched, not even one that was ours before", () => {
    expect(changes({ keepalive: "7" })).toEqual([]);
    expect(changes({ keepalive: "7", keepaliveMark: "25" }, { inMesh: false })).toEqual([]);
  });

  it("that is ours follows the mesh, and goes with it", () => {
    expect(changes(ours("10"))).toEqual([{ node: "c2-n0", seconds: 25 }]);
    expect(changes(ours("25"))).toEqual([]);
    expect(changes(ours("25"), { inMesh: false })).toEqual([{ node: "c2-n0" }]);
  });

  it("is not set on a node without WireGuard IP: it leads nothing", () => {
    expect(changes({ wireguardIp: "" })).toEqual([]);
  });

  it("is left to the connection that speaks for the cluster, where two lead to it", () => {
    const nodes = [aNode(2, 0, ours("25"))];
    const views = [aView([aNode(1, 0)]), aView(nodes), aView(nodes), aView(nodes, { trust: "another ca" })];
    const meshes = [aMesh(2, { persistentKeepalive: 25 })];
    const world = aWorld({ meshes, views, overrides: { twins: new Map([[conn(3), conn(2)]]) } });
    for (const cluster of [2, 3, 4]) expect(keepaliveChanges(world, conn(cluster), 0)).toEqual([]);
  });
});

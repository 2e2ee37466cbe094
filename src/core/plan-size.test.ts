import { describe, expect, it } from "vitest";
import { aKey, aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { parseCidr } from "./cidr.ts";
import { diffPeers } from "./diff.ts";
import { parseDiscovered } from "./discovered.ts";
import { nodeName } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import { nextPhase } from "./order.ts";
import type { ClusterView } from "./world.ts";

const byte = (index: number): string => `${index >> 8}.${index & 255}`;

/** So many nodes of a cluster, `first` being the number of the first. */
const nodesOf = (cluster: number, count: number, first = 0): NodeFacts[] =>
  Array.from({ length: count }, (_, index) =>
    aNode(cluster, first + index, {
      podCidrs: [`1${cluster}.${byte(index)}.0/24`],
      wireguardIp: `2${cluster}.200.${byte(index)}/16`,
      internalIps: [`172.1${cluster}.${byte(index)}`],
      forceEndpoint: `198.18.${byte(index)}:51820`,
    }),
  );

function aBigMesh(clusters: number): Mesh {
  const mesh = aMesh(clusters);
  const network = (text: string) => parseCidr(text) ?? expect.unreachable();
  const entries = mesh.entries.map((entry, index) => {
    const allowed = [network(`1${index + 1}.0.0.0/8`), network(`2${index + 1}.200.0.0/16`)];
    return { ...entry, networks: { form: "flat", allowed } as const };
  });
  return { ...mesh, entries };
}

const mesh = aBigMesh(2);

/** The plan of the second cluster, which holds what it should have held when its first cluster was as in `before`. */
function planAfter(before: ClusterView, source: ClusterView, target: ClusterView) {
  const held = planOf(aWorld({ meshes: [mesh], views: [before, target] }), 2).peers.map((peer) => heldAs(peer));
  return planOf(aWorld({ meshes: [mesh], views: [source, { ...target, peers: known(held) }] }), 2);
}

// Each of these takes minutes where the work grows with the square of what there is.
describe("a plan of much", () => {
  it("one location of 5000 nodes is one Peer", () => {
    const nodes = nodesOf(1, 5000).map((facts, index) => {
      const isLeader = index === 0;
      return { ...facts, granularity: "location", ...(isLeader ? {} : { wireguardIp: "" }) };
    });
    const plan = planAfter(aView(nodes), aView(nodes), aView([aNode(2, 0)]));
    expect([plan.peers.length, diffPeers(plan)]).toEqual([1, []]);
  });

  it("500 nodes that have met 500 others stay where they are", () => {
    const nodes = nodesOf(1, 500);
    const report = Object.fromEntries(
      nodes.map(({ key, forceEndpoint }) => [key, { IP: forceEndpoint.split(":")[0], Port: 51820 }]),
    );
    const seen = parseDiscovered(JSON.stringify(report));
    const others = nodesOf(2, 500);
    const target = aView(others, { observed: new Map(others.map(({ name }) => [name, seen])) });
    expect(diffPeers(planAfter(aView(nodes), aView(nodes), target))).toEqual([]);
  });

  it("3000 nodes that took the place of 3000 others wait for the proof that those are gone", () => {
    const heirs = nodesOf(1, 3000).map((facts, index) => ({
      ...facts,
      name: nodeName(`heir-${index}`),
      key: aKey(`heir ${index}`),
    }));
    const plan = planAfter(aView(nodesOf(1, 3000)), aView(heirs, { absenceProven: false }), aView([aNode(2, 0)]));
    expect(nextPhase(diffPeers(plan)).map(({ action }) => action)).toEqual(Array(3000).fill("create"));
    const proven = planAfter(aView(nodesOf(1, 3000)), aView(heirs), aView([aNode(2, 0)]));
    expect(nextPhase(diffPeers(proven))).toHaveLength(3000);
  });

  it("a cluster of 6000 nodes that left a mesh of 12000 others loses their Peers", () => {
    const views = [aView(nodesOf(1, 6000)), aView(nodesOf(2, 6000)), aView(nodesOf(3, 6000))];
    const held = planOf(aWorld({ meshes: [aBigMesh(3)], views }), 3).peers.map((peer) => heldAs(peer));
    const left = [...views.slice(0, 2), aView(nodesOf(3, 6000), { peers: known(held) })];
    const plan = planOf(aWorld({ meshes: [mesh], views: left }), 3);
    expect(nextPhase(diffPeers(plan))).toHaveLength(12_000);
  });
});

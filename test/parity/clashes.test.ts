import { describe, expect, it } from "vitest";
import { parseCidr } from "../../src/core/cidr.ts";
import { diffPeers } from "../../src/core/diff.ts";
import type { Mesh } from "../../src/core/mesh.ts";
import type { NodeFacts } from "../../src/core/node.ts";
import type { KnownPlan } from "../../src/core/plan.ts";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf, unknown } from "../support/build.ts";

const flat = (clusters: number): Mesh => {
  const mesh = aMesh(clusters);
  return {
    ...mesh,
    entries: mesh.entries.map((entry) => ({
      ...entry,
      networks: {
        form: "flat",
        allowed: [`10.${entry.name.slice(1)}.0.0/16`, `10.200.${entry.name.slice(1)}.0/24`].flatMap(
          (text) => parseCidr(text) ?? [],
        ),
      },
    })),
  };
};

const routesOf = ({ peers }: KnownPlan): Record<string, string[]> =>
  Object.fromEntries(peers.map(({ node, routes }) => [node, routes.map(({ text }) => text)]));

describe("two nodes with one WireGuard address", () => {
  const address = aNode(1, 0).wireguardIp;
  const holders = (second: Partial<NodeFacts>): string[][] => {
    const views = [aView([aNode(1, 0), aNode(1, 1, second)]), aView([aNode(2, 0)])];
    const planned = planOf(aWorld({ meshes: [aMesh(2)], views }), 2);
    return planned.peers.map(({ routes }) =>
      routes.map(({ text }) => text).filter((text) => text.startsWith("10.200.")),
    );
  };

  it.each<[string, Partial<NodeFacts>]>([
    ["the same text", { wireguardIp: address }],
    ["another prefix", { wireguardIp: address.replace("/24", "/32") }],
  ])("both keep their Peers, and the address is on one of them alone: %s", (_, second) => {
    const peers = holders(second);
    expect(peers).toHaveLength(2);
    expect(peers.flat()).toEqual(["10.200.1.1/32"]);
  });

  it("are no two nodes with addresses of their own", () => {
    expect(holders({})).toEqual([["10.200.1.1/32"], ["10.200.1.2/32"]]);
  });

  it.each(["", "nonsense"])("are not made by a node whose address is %j: it has none to claim", (wireguardIp) => {
    expect(holders({ wireguardIp })).toEqual([["10.200.1.1/32"]]);
  });
});

describe("two clusters whose nodes have one private address", () => {
  const shared = "192.168.0.7";
  const [one, two] = [aNode(1, 0, { internalIps: [shared] }), aNode(2, 0, { internalIps: [shared] })];

  it("do not shadow each other in a third: whose Peer has it already keeps it", () => {
    const before = aWorld({ meshes: [flat(3)], views: [aView([]), aView([two]), aView([aNode(3, 0)])] });
    const held = planOf(before, 3).peers.map((peer) => heldAs(peer));
    const views = [aView([one]), aView([two]), aView([aNode(3, 0)], { peers: known(held) })];
    const planned = planOf(aWorld({ meshes: [flat(3)], views }), 3);
    expect(routesOf(planned)).toEqual({
      "c1-n0": ["10.1.0.0/24", "10.200.1.1/32"],
      "c2-n0": ["10.2.0.0/24", "10.200.2.1/32", "192.168.0.7/32"],
    });
    expect(planned.refused.map(({ claim }) => claim.route.text)).toEqual(["192.168.0.7/32"]);
  });

  it("do not route it to each other: a cluster's own address is never led away", () => {
    const world = aWorld({ meshes: [flat(2)], views: [aView([one]), aView([two])] });
    expect(routesOf(planOf(world, 2))).toEqual({ "c1-n0": ["10.1.0.0/24", "10.200.1.1/32"] });
  });

  it("do not lead a node's endpoint into its own tunnel", () => {
    const near = aNode(1, 0, { internalIps: [shared], forceEndpoint: `${shared}:51820` });
    const world = aWorld({ meshes: [flat(2)], views: [aView([near]), aView([aNode(2, 0)])] });
    expect(routesOf(planOf(world, 2))).toEqual({ "c1-n0": ["10.1.0.0/24", "10.200.1.1/32"] });
  });
});

describe("the Peer of a cluster that cannot be seen", () => {
  it("keeps the host routes of the flat form, and no other route that is not declared", () => {
    const before = aWorld({ meshes: [flat(2)], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)])] });
    const declared = ["10.1.0.0/24", "10.200.1.1/32"];
    const allowedIps = [...declared, "172.16.1.1/32", "172.17.0.0/24", "0.0.0.0/0", "fd01::1/128", "fd02::/64"];
    const held = planOf(before, 2).peers.map((peer) => heldAs(peer, { allowedIps }));
    const views = [aView([], { nodes: unknown }), aView([aNode(2, 0)], { peers: known(held) })];
    expect(diffPeers(planOf(aWorld({ meshes: [flat(2)], views }), 2))).toMatchObject([
      { action: "shrink", routes: [...declared, "172.16.1.1/32", "fd01::1/128"] },
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { type Cidr, parseCidr } from "../../src/core/cidr.ts";
import type { Mesh } from "../../src/core/mesh.ts";
import type { NodeFacts } from "../../src/core/node.ts";
import { aMesh, aNode, aView, aWorld, planOf } from "../support/build.ts";

const cidrs = (texts: readonly string[]): Cidr[] => texts.flatMap((text) => parseCidr(text) ?? []);

/** Two clusters, the first of the flat form with these networks. */
function flat(allowed: readonly string[]): Mesh {
  const mesh = aMesh(2);
  return {
    ...mesh,
    entries: mesh.entries.map((entry, index) =>
      index === 0 ? { ...entry, networks: { form: "flat", allowed: cidrs(allowed) } } : entry,
    ),
  };
}

/** The routes of each Peer of cluster 1 in cluster 2. */
function routesOf(mesh: Mesh, nodes: readonly NodeFacts[]): string[][] {
  const world = aWorld({ meshes: [mesh], views: [aView(nodes), aView([aNode(2, 0)])] });
  return planOf(world, 2).peers.map(({ routes }) => routes.map(({ text }) => text));
}

const [pods, wireguard, service, hosts] = ["10.1.0.0/16", "10.200.1.0/24", "10.96.0.0/12", "172.31.0.0/16"] as const;
const node = aNode(1, 0, { internalIps: ["172.16.1.1"] });
const own = ["10.1.0.0/24", "10.200.1.1/32", "172.16.1.1/32"];

describe("the declared networks that no node has anything in", () => {
  it.each<[string, string[], string[]]>([
    ["a service network is carried", [pods, wireguard, service], [service]],
    ["the networks of pods and of WireGuard are not", [pods, wireguard], []],
    ["a network of hosts that are no nodes is carried", [pods, wireguard, hosts], [hosts]],
    ["several are all carried", [hosts, pods, service, wireguard], [hosts, service]],
  ])("flat form: %s", (_, allowed, carried) => {
    const [routes] = routesOf(flat(allowed), [node]);
    expect([...(routes ?? [])].sort()).toEqual([...own, ...carried].sort());
  });

  it("flat form: a network in which a node has an address is not carried, the address is", () => {
    const [routes] = routesOf(flat([pods, wireguard, hosts]), [aNode(1, 0, { internalIps: ["172.31.0.1"] })]);
    expect(routes).toEqual(["10.1.0.0/24", "10.200.1.1/32", "172.31.0.1/32"]);
  });

  it("typed form: a declared network is carried though a node has an address in it", () => {
    const mesh = aMesh(2, { additionalCIDRs: [hosts] });
    const [routes] = routesOf(mesh, [aNode(1, 0, { internalIps: ["172.31.0.1"] })]);
    expect(routes).toEqual(["10.1.0.0/24", "10.200.1.1/32", hosts]);
  });

  it("wait for the first node: without one there is nothing to carry them", () => {
    expect(routesOf(flat([pods, wireguard, service]), [])).toEqual([]);
  });

  it("are sorted among the node's own routes, whatever order the spec has", () => {
    const [one] = routesOf(flat([pods, wireguard, service, hosts]), [node]);
    const [two] = routesOf(flat([hosts, service, wireguard, pods]), [node]);
    expect(one).toEqual(["10.1.0.0/24", "10.96.0.0/12", "10.200.1.1/32", "172.16.1.1/32", "172.31.0.0/16"]);
    expect(two).toEqual(one);
  });

  it.each<[string, Partial<NodeFacts>]>([
    ["has to come to us", { forceEndpoint: "", kiloEndpoint: "192.168.7.1:51820" }],
    ["is reached by its external address", { forceEndpoint: "", externalIps: ["203.0.113.5"] }],
  ])("are carried also by a node that %s", (_, facts) => {
    const [routes] = routesOf(aMesh(2, { serviceCIDR: service }), [aNode(1, 0, facts)]);
    expect(routes).toEqual(["10.1.0.0/24", service, "10.200.1.1/32"]);
  });

  it("are no reason to route one address twice: an internal address that is the WireGuard address is one route", () => {
    const [routes] = routesOf(flat([pods, wireguard]), [aNode(1, 0, { internalIps: ["10.200.1.1"] })]);
    expect(routes).toEqual(["10.1.0.0/24", "10.200.1.1/32"]);
  });
});

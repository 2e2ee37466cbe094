import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aKey, aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { containsIp, overlaps, parseCidr, parseIp } from "./cidr.ts";
import { diffPeers } from "./diff.ts";
import { parseDiscovered } from "./discovered.ts";
import { hostText } from "./endpoint.ts";
import { nodeName, publicKey } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import type { ClusterView } from "./world.ts";

const mesh = aMesh(2, { serviceCIDR: "10.96.0.0/12" });
const flat: Mesh = {
  ...mesh,
  entries: mesh.entries.map((entry) => ({
    ...entry,
    networks: {
      form: "flat",
      allowed: [parseCidr(`10.${entry.name.slice(1)}.0.0/16`), parseCidr(`10.200.${entry.name.slice(1)}.0/24`)].flatMap(
        (cidr) => cidr ?? [],
      ),
    },
  })),
};

interface Scene {
  readonly one?: readonly NodeFacts[];
  readonly two?: readonly NodeFacts[];
  readonly held?: readonly HeldPeer[];
  readonly target?: Partial<ClusterView>;
  readonly meshes?: readonly Mesh[];
}

function plan({
  one = [aNode(1, 0), aNode(1, 1)],
  two = [aNode(2, 0)],
  held = [],
  target,
  meshes = [mesh],
}: Scene = {}) {
  return planOf(aWorld({ meshes, views: [aView(one), aView(two, { peers: known(held), ...target })] }), 2);
}

const routesIn = (planned: ReturnType<typeof plan>): string[] =>
  planned.peers.flatMap(({ routes }) => routes.map(({ text }) => text));

/** Any facts a node of a tenant might claim. */
const anyNode = fc
  .record({
    internalIps: fc.array(
      fc.oneof(fc.ipV4(), fc.constantFrom("10.2.0.1", "172.16.2.1", "10.200.2.1", "198.51.100.20")),
      { maxLength: 3 },
    ),
    podCidrs: fc.constantFrom(["10.1.0.0/24"], ["10.1.0.0/16"], ["10.2.0.0/24"], ["0.0.0.0/0"]),
    wireguardIp: fc.constantFrom("10.200.1.1/24", "10.200.2.1/24", "10.2.0.9/32"),
    forceEndpoint: fc.constantFrom("198.51.100.9:51820", "10.1.0.9:51820", "10.2.0.9:51820"),
  })
  .map((facts) => aNode(1, 0, facts));

describe("Kilo's rules, kept by the planner", () => {
  it("R1: no route of any Peer covers the endpoint of any Peer in the target, foreign ones included", () => {
    const foreign = heldAs(plan().peers[0] as never, {
      instance: "",
      publicKey: aKey("f"),
      name: "f" as never,
      allowedIps: [],
      endpoint: { host: { ip: "10.1.0.77" }, port: 1 },
    });
    fc.assert(
      fc.property(anyNode, fc.constantFrom(mesh, flat), (node, chosen) => {
        const planned = plan({ one: [node], held: [foreign], meshes: [chosen] });
        const endpoints = [...planned.peers.map(({ endpoint }) => hostText(endpoint)), "10.1.0.77"].flatMap(
          (text) => parseIp(text) ?? [],
        );
        for (const { routes } of planned.peers) {
          expect(routes.some((route) => endpoints.some((address) => containsIp(route, address)))).toBe(false);
        }
      }),
    );
  });

  it("R2: no route touches anything of the receiving cluster, nor is it a default route", () => {
    const local = ["10.2.0.0/16", "10.200.2.0/24", "172.16.2.1/32"].flatMap((text) => parseCidr(text) ?? []);
    fc.assert(
      fc.property(anyNode, fc.constantFrom(mesh, flat), (node, chosen) => {
        for (const { routes } of plan({ one: [node], meshes: [chosen] }).peers) {
          expect(routes.some((route) => route.prefix === 0 || local.some((own) => overlaps(own, route)))).toBe(false);
        }
      }),
    );
  });

  it("R3: every route is canonical, sorted and there once", () => {
    const planned = plan({
      one: [aNode(1, 0, { podCidrs: ["10.1.0.7/24", "10.1.0.0/24"], internalIps: ["10.1.9.9"] })],
    });
    expect(routesIn(planned)).toEqual(["10.1.0.0/24", "10.1.9.9/32", "10.96.0.0/12", "10.200.1.1/32"]);
    for (const text of routesIn(planned)) expect(parseCidr(text)?.text).toBe(text);
  });

  it("R4: every Peer has an endpoint, and it is an address", () => {
    const one = [
      aNode(1, 0, { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" }),
      aNode(1, 1, { forceEndpoint: "gw.example.org:7" }),
    ];
    const world = aWorld({
      meshes: [mesh],
      views: [aView(one), aView([aNode(2, 0)])],
      overrides: { resolved: new Map([["gw.example.org", ["203.0.113.4"]]]) },
    });
    expect(planOf(world, 2).peers.map(({ endpoint }) => endpoint.host)).toEqual([
      { ip: "192.168.3.4" },
      { ip: "203.0.113.4" },
    ]);
    const unresolved = plan({ one });
    expect(unresolved.peers.map(({ node }) => node)).toEqual(["c1-n0"]);
    expect(unresolved.unresolved.map(({ node }) => node)).toEqual(["c1-n1"]);
  });

  it("R4: a placeholder never lies in a network that is routed into the tunnel", () => {
    const planned = plan({ one: [aNode(1, 0, { forceEndpoint: "", kiloEndpoint: "10.1.0.9:51821" })] });
    expect(planned.peers[0]?.endpoint).toEqual({ host: { ip: "192.0.2.1" }, port: 51821 });
  });

  it("R5: a node that has to come to us first has a keepalive, so that Kilo follows it", () => {
    const planned = plan({ one: [aNode(1, 0, { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" }), aNode(1, 1)] });
    expect(planned.peers.map(({ keepaliveSeconds }) => keepaliveSeconds)).toEqual([25, 0]);
  });

  it("R6: what the target's nodes observe is the endpoint there, and stays while any of them reports it", () => {
    const observe = (...ips: string[]) =>
      new Map(
        ips.map((ip, index) => [
          nodeName(`n${index}`),
          parseDiscovered(JSON.stringify({ [aKey("c1-n0")]: { IP: ip, Port: 4500 } })),
        ]),
      );
    const seen = plan({ target: { observed: observe("203.0.113.1", "203.0.113.2") } });
    expect(seen.peers[0]?.endpoint).toEqual({ host: { ip: "203.0.113.1" }, port: 4500 });
    const held = seen.peers.map((peer) => heldAs(peer));
    const later = plan({ held, target: { observed: observe("203.0.113.2", "203.0.113.1"), peers: known(held) } });
    expect(diffPeers(later)).toEqual([]);
    const pinned = plan({
      one: [aNode(1, 0, { clustermeshEndpoint: "192.0.2.9:1" })],
      target: { observed: observe("203.0.113.1") },
    });
    expect(pinned.peers[0]).toMatchObject({ endpoint: { host: { ip: "192.0.2.9" } }, keepaliveSeconds: 25 });
  });

  it("R8: a plan that changes nothing writes nothing, whatever the order of its routes", () => {
    const held = plan().peers.map((peer) =>
      heldAs(peer, { allowedIps: peer.routes.map(({ text }) => text).reverse() }),
    );
    expect(diffPeers(plan({ held }))).toEqual([]);
  });

  it("R9: no two Peers have one public key", () => {
    const twins = [aNode(1, 0), aNode(1, 1, { key: aKey("c1-n0") })];
    const keys = plan({ one: twins, meshes: [mesh, aMesh(2, {}, "other")] }).peers.map((peer) => peer.publicKey);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("R10: every Peer passes Kilo's own checks", () => {
    fc.assert(
      fc.property(anyNode, fc.string(), (node, key) => {
        for (const peer of plan({ one: [{ ...node, key }, aNode(1, 1)] }).peers) {
          expect(publicKey(peer.publicKey)).toBeDefined();
          expect(peer.routes.length).toBeGreaterThan(0);
          expect(peer.endpoint.port).toBeGreaterThan(0);
          expect(peer.keepaliveSeconds).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  it("R11: the WireGuard IP is a host route, whatever prefix Kilo wrote", () => {
    for (const prefix of [16, 24, 32]) {
      const planned = plan({ one: [aNode(1, 0, { wireguardIp: `10.200.1.7/${prefix}` })] });
      expect(routesIn(planned)).toContain("10.200.1.7/32");
    }
  });

  it("R12: an address that two nodes claim while Kilo renumbers stays where it is, and both keep their Peers", () => {
    const held = plan().peers.map((peer) => heldAs(peer));
    const planned = plan({ held, one: [aNode(1, 0), aNode(1, 1, { wireguardIp: "10.200.1.1/24" })] });
    expect(planned.peers.map(({ routes }) => routes.some(({ text }) => text === "10.200.1.1/32"))).toEqual([
      true,
      false,
    ]);
  });

  it.each([
    ["the first moves first", ["10.200.1.2", "10.200.1.2"]],
    ["the second moves first", ["10.200.1.1", "10.200.1.1"]],
    ["both at once", undefined],
  ])("R12: two nodes exchange their addresses, and nobody loses a Peer: %s", (_, between) => {
    const addressed = (addresses: readonly string[]): NodeFacts[] =>
      addresses.map((address, index) => aNode(1, index, { wireguardIp: `${address}/24` }));
    let held = plan().peers.map((peer) => heldAs(peer));
    for (const addresses of [...(between ? [between] : []), ["10.200.1.2", "10.200.1.1"]]) {
      const planned = plan({ held, one: addressed(addresses) });
      expect(diffPeers(planned).filter(({ action }) => action !== "update")).toEqual([]);
      const hosts = routesIn(planned).filter((text) => text.startsWith("10.200.1."));
      expect(hosts.length).toBe(new Set(hosts).size);
      held = planned.peers.map((peer) => heldAs(peer));
    }
    const after = plan({ held, one: addressed(["10.200.1.2", "10.200.1.1"]) });
    expect(diffPeers(after)).toEqual([]);
    expect(after.peers.map(({ node, routes }) => [node, routes.map(({ text }) => text).at(-1)])).toEqual([
      ["c1-n0", "10.200.1.2/32"],
      ["c1-n1", "10.200.1.1/32"],
    ]);
  });

  it("R13: annotations that are missing do not mean that the node is gone", () => {
    const held = plan().peers.map((peer) => heldAs(peer));
    expect(diffPeers(plan({ held, one: [aNode(1, 0), aNode(1, 1, { key: "", wireguardIp: "" })] }))).toEqual([]);
  });

  it("R15: a cluster-wide network is on exactly one Peer", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), (count) => {
        const one = Array.from({ length: count }, (_, index) => aNode(1, index));
        expect(routesIn(plan({ one })).filter((text) => text === "10.96.0.0/12")).toHaveLength(1);
      }),
    );
  });

  it("R16: IPv6 routes only where no node of the target has an IPv4 internal address", () => {
    const sixes: Mesh = {
      ...mesh,
      entries: mesh.entries.map((entry, index) =>
        index === 0
          ? {
              ...entry,
              networks: {
                form: "flat",
                allowed: ["10.1.0.0/16", "10.200.1.0/24", "fd01::/48"].flatMap((text) => parseCidr(text) ?? []),
              },
            }
          : entry,
      ),
    };
    const one = [aNode(1, 0, { podCidrs: ["10.1.0.0/24", "fd01::/64"] })];
    expect(routesIn(plan({ one, meshes: [sixes] }))).not.toContain("fd01::/64");
    const modern = plan({ one, two: [aNode(2, 0, { internalIps: ["fd02::1"] })], meshes: [sixes] });
    expect(routesIn(modern)).toContain("fd01::/64");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aKey, aMesh, aNode, aView, aWorld, conn, known } from "../../test/support/build.ts";
import { spoiltObject } from "../../test/support/spoilt.ts";
import { diffPeers } from "../core/diff.ts";
import { planTarget } from "../core/plan.ts";
import type { ClusterView } from "../core/world.ts";
import { type NodeObject, readNode } from "./kilo-node.ts";
import { objectOf, type PeerObject, readPeer, renderKept, renderPeer } from "./kilo-peer.ts";
import { annotations, labels, nodeAnnotations, regionLabel } from "./names.ts";

const node: NodeObject = {
  metadata: {
    name: "n",
    uid: "u",
    labels: { [regionLabel]: "r" },
    annotations: {
      ...Object.fromEntries(Object.values(nodeAnnotations).map((name) => [name, "198.51.100.30:51820"])),
      [nodeAnnotations.key]: aKey("c3-n0"),
      [nodeAnnotations.wireguardIp]: "10.200.3.1/24",
      [nodeAnnotations.granularity]: "location",
      [nodeAnnotations.discovered]: `{"${aKey("c1-n0")}":{"IP":"203.0.113.9","Port":51820}}`,
      [annotations.keepaliveMark]: "25",
    },
  },
  spec: { podCIDR: "10.3.0.0/24", podCIDRs: ["10.3.0.0/24", "fd00::/64"] },
  status: {
    addresses: [
      { type: "InternalIP", address: "172.16.3.1" },
      { type: "ExternalIP", address: "203.0.113.3" },
    ],
  },
};

const peer: PeerObject = {
  metadata: {
    name: "p",
    uid: "u",
    labels: { [labels.mesh]: "tenant", [labels.source]: "c1", [labels.instance]: "me" },
    annotations: {
      [annotations.owners]: "kilo-system/tenant",
      [annotations.node]: "c1-n0",
      [annotations.adopt]: "true",
      [annotations.touchPending]: "true",
      [annotations.declared]: "198.51.100.10:51820",
      [annotations.move]: "dropped 192.0.2.2:7",
    },
  },
  spec: {
    publicKey: aKey("c1-n0"),
    allowedIPs: ["10.1.0.0/24", "10.200.1.1/32"],
    endpoint: { dnsOrIP: { ip: "198.51.100.10", dns: "x.example.org" }, port: 51820 },
    persistentKeepalive: 25,
    presharedKey: "psk",
  },
};

const meshes = [aMesh(2), aMesh(3, {}, "tenant")];

/** Plans every cluster; the third is the tenant's. */
function planAll(tenants: ClusterView): void {
  const world = aWorld({ meshes, views: [aView([aNode(1, 0)]), aView([aNode(2, 0)]), tenants] });
  for (const cluster of [1, 2, 3]) {
    const plan = planTarget(world, conn(cluster));
    if (plan.state === "known") diffPeers(plan);
  }
}

describe("whatever another cluster's API server sends", () => {
  it("as a Node, every cluster can be planned", () => {
    fc.assert(
      fc.property(spoiltObject(node), (object) => {
        const { facts } = readNode(object);
        planAll(aView([facts, aNode(3, 1)], { silent: new Set([facts.name]) }));
      }),
      { numRuns: 200 },
    );
  });

  it("as a Peer, every cluster can be planned, and the Peer can be written", () => {
    const [planned] = planOfFirst();
    if (!planned) throw new Error("unreachable");
    fc.assert(
      fc.property(spoiltObject(peer), (object) => {
        const held = readPeer(object);
        planAll(aView([aNode(3, 0)], { peers: known([held]) }));
        renderPeer(planned, "me", objectOf(held));
        renderKept(objectOf(held), []);
      }),
      { numRuns: 200 },
    );
  });

  it.each<[string, Partial<NodeObject> | object, object]>([
    ["a pod CIDR that is a number", { spec: { podCIDRs: [5, "10.3.0.0/24"] } }, { podCidrs: ["", "10.3.0.0/24"] }],
    ["pod CIDRs that are a text", { spec: { podCIDRs: "10.3.0.0/24" } }, { podCidrs: [] }],
    [
      "an address that is a number",
      { status: { addresses: [{ type: "InternalIP", address: 7 }] } },
      { internalIps: [] },
    ],
    ["no address at all", { status: { addresses: [null] } }, { internalIps: [], externalIps: [] }],
    ["annotations that are null", { metadata: { name: "n", annotations: null } }, { key: "" }],
    [
      "a location that is a list",
      { metadata: { name: "n", annotations: { [nodeAnnotations.location]: [] } } },
      { location: "" },
    ],
  ])("of %s counts as absent", (_, said, facts) => {
    expect(readNode({ metadata: { name: "n" }, ...said } as NodeObject).facts).toMatchObject(facts);
  });

  it("of one node's addresses no more than a hundred of a kind are read", () => {
    const addresses = Array.from({ length: 1000 }, (_, index) => ({
      type: index % 2 ? "InternalIP" : "ExternalIP",
      address: `172.16.${index >> 8}.${index & 255}`,
    }));
    const { facts } = readNode({ metadata: { name: "n" }, status: { addresses } });
    expect([facts.internalIps.length, facts.externalIps.length]).toEqual([100, 100]);
  });

  it("of a Peer's endpoint that is none counts as a Peer without one", () => {
    const ends = [{ port: 1 }, { dnsOrIP: { ip: 5 }, port: 1 }, { dnsOrIP: { ip: "192.0.2.1" }, port: "1" }, "x"];
    const read = ends.map((endpoint) => readPeer({ metadata: { name: "p" }, spec: { endpoint } } as never));
    expect(read.map(({ endpoint }) => endpoint)).toEqual(ends.map(() => undefined));
    expect(read[0]).toMatchObject({ publicKey: "", allowedIps: [], keepaliveSeconds: 0 });
  });
});

function planOfFirst() {
  const plan = planTarget(aWorld({ meshes, views: [aView([aNode(1, 0)]), aView([aNode(2, 0)])] }), conn(2));
  return plan.state === "known" ? plan.peers : [];
}

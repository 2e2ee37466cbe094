import { describe, expect, it } from "vitest";
import { type PeerObject, readPeer, renderPeer } from "../../src/api/kilo-peer.ts";
import { parseDiscovered } from "../../src/core/discovered.ts";
import { type Endpoint, parseEndpoint } from "../../src/core/endpoint.ts";
import { nodeName } from "../../src/core/ids.ts";
import type { NodeFacts } from "../../src/core/node.ts";
import type { ClusterView } from "../../src/core/world.ts";
import { aKey, aMesh, aNode, aView, aWorld, planOf } from "../support/build.ts";

/** The Peers of one node of cluster 1, as they are written into cluster 2. */
function written(facts: Partial<NodeFacts> = {}, target: Partial<ClusterView> = {}): PeerObject[] {
  const views = [aView([aNode(1, 0, facts)]), aView([aNode(2, 0)], target)];
  return planOf(aWorld({ meshes: [aMesh(2)], views }), 2).peers.map((peer) => renderPeer(peer, "me"));
}

describe("a Peer", () => {
  it("of a plain node has its name, marks, key, two routes, one address, and nothing else", () => {
    expect(written()).toEqual([
      {
        apiVersion: "kilo.squat.ai/v1alpha1",
        kind: "Peer",
        metadata: {
          name: "my-mesh--c1--c1-n0",
          labels: {
            "kilo-clustermesh.io/mesh": "my-mesh",
            "kilo-clustermesh.io/source-cluster": "c1",
            "kilo-clustermesh.io/instance": "me",
          },
          annotations: {
            "kilo-clustermesh.io/owners": "kilo-system/my-mesh",
            "kilo-clustermesh.io/source-node": "c1-n0",
          },
        },
        spec: {
          publicKey: aKey("c1-n0"),
          allowedIPs: ["10.1.0.0/24", "10.200.1.1/32"],
          endpoint: { dnsOrIP: { ip: "198.51.100.10" }, port: 51820 },
        },
      },
    ]);
  });

  it("has labels that differ by its mesh", () => {
    const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)])];
    const labelsOf = (name: string) =>
      planOf(aWorld({ meshes: [aMesh(2, {}, name)], views }), 2).peers.map(
        (peer) => renderPeer(peer, "me").metadata.labels?.["kilo-clustermesh.io/mesh"],
      );
    expect([labelsOf("one"), labelsOf("two")]).toEqual([["one"], ["two"]]);
  });

  it("with the name of a host, a keepalive and a preshared key is read from JSON and written as it was", () => {
    const [object] = written();
    if (!object) throw new Error("unreachable");
    const spec = {
      ...object.spec,
      endpoint: { dnsOrIP: { dns: "gw.example.org" }, port: 51821 },
      persistentKeepalive: 25,
      presharedKey: "psk",
    };
    const stored = JSON.parse(JSON.stringify({ ...object, spec })) as PeerObject;
    const held = readPeer(stored);
    expect(held).toMatchObject({ endpoint: { host: { dns: "gw.example.org" }, port: 51821 }, keepaliveSeconds: 25 });
    const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)])];
    const [peer] = planOf(aWorld({ meshes: [aMesh(2)], views }), 2).peers;
    if (!peer || !held.endpoint) throw new Error("unreachable");
    const again = renderPeer({ ...peer, endpoint: held.endpoint, keepaliveSeconds: 25 }, "me", stored);
    expect(again.spec).toEqual(spec);
  });
});

describe("the text of an endpoint", () => {
  it.each<[string, Endpoint]>([
    ["[2001:db8::1]:51820", { host: { ip: "2001:db8::1" }, port: 51820 }],
    ["[::1]:51820", { host: { ip: "::1" }, port: 51820 }],
    ["192.0.2.1:51820", { host: { ip: "192.0.2.1" }, port: 51820 }],
    ["gw.example.org:51820", { host: { dns: "gw.example.org" }, port: 51820 }],
    ["[gw.example.org]:51820", { host: { dns: "gw.example.org" }, port: 51820 }],
  ])("%s says where", (text, expected) => {
    expect(parseEndpoint(text)).toEqual(expected);
  });
});

describe("what the target's nodes have observed", () => {
  const observed = (key: string) =>
    new Map([[nodeName("c2-n0"), parseDiscovered(JSON.stringify({ [key]: { IP: "203.0.113.9", Port: 4500 } }))]]);

  it("counts only for the key that it names", () => {
    const endpointOf = (view: Partial<ClusterView>) => written({}, view).map(({ spec }) => spec.endpoint);
    const declared = [{ dnsOrIP: { ip: "198.51.100.10" }, port: 51820 }];
    expect(endpointOf({})).toEqual(declared);
    expect(endpointOf({ observed: observed(aKey("somebody")) })).toEqual(declared);
    expect(endpointOf({ observed: observed(aKey("c1-n0")) })).toEqual([{ dnsOrIP: { ip: "203.0.113.9" }, port: 4500 }]);
  });
});

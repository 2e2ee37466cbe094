import { describe, expect, it } from "vitest";
import { aKey, aMesh, aNode } from "../../test/support/build.ts";
import { admitNode } from "./admit.ts";
import { declaredNetworks } from "./mesh.ts";
import type { MeshNode, NodeFacts } from "./node.ts";

const entry = aMesh(2, { additionalCIDRs: ["172.16.1.0/24"] }).entries[0];
if (!entry) throw new Error("unreachable");
const admit = (overrides: Partial<NodeFacts> = {}) => admitNode(entry, aNode(1, 0, overrides));
const admitted = (overrides: Partial<NodeFacts> = {}): MeshNode => {
  const node = admit(overrides);
  if (node.kind === "skipped") throw new Error(node.reason);
  return node;
};

describe("a node is skipped", () => {
  it.each<[string, Partial<NodeFacts>]>([
    ["NodeNoPodCIDR", { podCidrs: [] }],
    ["NodeNoPodCIDR", { podCidrs: ["nonsense"] }],
    ["NodePodCIDROutOfRange", { podCidrs: ["10.9.0.0/24"] }],
    ["NodePodCIDROutOfRange", { podCidrs: ["10.0.0.0/8"] }],
    ["NodeNoWireguardIP", { wireguardIp: "" }],
    ["WGIPInvalid", { wireguardIp: "10.200.1.1" }],
    ["WGIPOutOfRange", { wireguardIp: "10.201.1.1/8" }],
    ["NodeNoPublicKey", { key: "" }],
    ["NodeKeyInvalid", { key: "short" }],
    ["NodeEndpointInvalid", { clustermeshEndpoint: "nonsense", forceEndpoint: "192.0.2.1:1" }],
    ["NodeEndpointInvalid", { forceEndpoint: "192.0.2.1" }],
    ["NodeEndpointInvalid", { clustermeshEndpoint: "0.0.0.0:51820" }],
    ["NodeEndpointInvalid", { forceEndpoint: "[fe80::1]:51820" }],
    ["NodeNoEndpoint", { forceEndpoint: "", externalIps: ["127.0.0.1"] }],
    ["NodeNoEndpoint", { forceEndpoint: "" }],
  ])("with %s when its facts are %j", (reason, overrides) => {
    expect(admit(overrides)).toMatchObject({ kind: "skipped", reason });
  });

  it.each<[string, Partial<NodeFacts>]>([
    ["kilo.squat.ai/clustermesh-endpoint is not host:port", { clustermeshEndpoint: "nonsense" }],
    ["kilo.squat.ai/force-endpoint is not host:port", { forceEndpoint: "192.0.2.1" }],
    [
      "kilo.squat.ai/force-endpoint is an address that no other machine can reach",
      { forceEndpoint: "127.0.0.1:51820", externalIps: ["203.0.113.5"] },
    ],
  ])("and it is said which annotation is wrong: %s", (detail, overrides) => {
    expect(admit(overrides)).toMatchObject({ reason: "NodeEndpointInvalid", detail });
  });
});

describe("an admitted node", () => {
  it("has its pods, its WireGuard host address, and those of its own addresses that the entry declares", () => {
    const node = admitted({ internalIps: ["172.16.1.1", "172.31.0.1", "nonsense"] });
    expect(node.pods.map(({ text }) => text)).toEqual(["10.1.0.0/24"]);
    expect(node.wireguard.text).toBe("10.200.1.1/32");
    expect(node.hosts.map(({ text }) => text)).toEqual(["172.16.1.1/32"]);
    expect(node.publicKey).toBe(aKey("c1-n0"));
  });

  it("of the flat form has all its own addresses", () => {
    const networks = { form: "flat", allowed: declaredNetworks(entry) } as const;
    const node = admitNode({ ...entry, networks }, aNode(1, 0, { internalIps: ["172.16.1.1", "172.31.0.1"] }));
    expect(node.kind === "admitted" && node.hosts.map(({ text }) => text)).toEqual(["172.16.1.1/32", "172.31.0.1/32"]);
  });

  it("that nothing outside leads to roams, with the endpoint Kilo tells its neighbours", () => {
    const node = admitted({ forceEndpoint: "", kiloEndpoint: "192.168.0.7:51820" });
    expect(node).toMatchObject({ roams: true, endpoint: { host: { ip: "192.168.0.7" }, port: 51820 } });
  });

  it.each<[string, Partial<NodeFacts>]>([
    ["192.0.2.9:7", { clustermeshEndpoint: "192.0.2.9:7", forceEndpoint: "192.0.2.1:1" }],
    ["192.0.2.1:1", { forceEndpoint: "192.0.2.1:1", externalIps: ["203.0.113.5"] }],
    ["203.0.113.5:51820", { forceEndpoint: "", externalIps: ["2001:db8::1", "x", "203.0.113.5"] }],
    ["2001:db8::1:51820", { forceEndpoint: "", externalIps: ["2001:db8::1"] }],
  ])("is reached at %s", (expected, overrides) => {
    const { host, port } = admitted(overrides).endpoint;
    expect(`${"ip" in host ? host.ip : host.dns}:${port}`).toBe(expected);
  });
});

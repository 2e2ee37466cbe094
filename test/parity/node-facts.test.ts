import { describe, expect, it } from "vitest";
import { type NodeObject, readNode } from "../../src/api/kilo-node.ts";
import { admitNode } from "../../src/core/admit.ts";
import { type NodeFacts, sameNodeRecord } from "../../src/core/node.ts";
import { type SkipReason, skipReasons } from "../../src/core/reasons.ts";
import { aKey, aMesh, aNode } from "../support/build.ts";

const kilo = (annotations: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`kilo.squat.ai/${key}`, value]));

function aNodeObject(overrides: Partial<NodeObject> = {}, annotations: Record<string, string> = {}): NodeObject {
  return {
    metadata: {
      name: "n",
      uid: "u",
      annotations: kilo({ key: aKey("n"), "wireguard-ip": "10.200.1.1/24", "last-seen": "1", ...annotations }),
    },
    spec: { podCIDRs: ["10.1.0.0/24"] },
    status: {
      addresses: [
        { type: "Hostname", address: "203.0.113.200" },
        { type: "InternalIP", address: "172.16.1.1" },
      ],
    },
    ...overrides,
  };
}

describe("what is read from a Node", () => {
  it("is no endpoint: neither its host name nor its internal address leads to it from outside", () => {
    const { facts } = readNode(aNodeObject());
    expect([facts.externalIps, facts.internalIps]).toEqual([[], ["172.16.1.1"]]);
    const [entry] = aMesh(2).entries;
    expect(entry && admitNode(entry, facts)).toMatchObject({ kind: "skipped", reason: "NodeNoEndpoint" });
  });

  it("is neither key nor address where Kilo has not been yet", () => {
    const { facts } = readNode({ metadata: { name: "n" } });
    expect([facts.key, facts.wireguardIp, facts.podCidrs]).toEqual(["", "", []]);
    const [entry] = aMesh(2).entries;
    const keyless = { ...readNode(aNodeObject()).facts, key: facts.key };
    expect(entry && admitNode(entry, keyless)).toMatchObject({ kind: "skipped", reason: "NodeNoPublicKey" });
  });

  it("is the same when Kilo says again that the node lives", () => {
    const [before, after] = [readNode(aNodeObject()), readNode(aNodeObject({}, { "last-seen": "2" }))];
    expect(sameNodeRecord(before, after)).toBe(true);
  });

  it.each<[string, NodeObject]>([
    ["another address", aNodeObject({ status: { addresses: [{ type: "InternalIP", address: "172.16.1.2" }] } })],
    ["an external address", aNodeObject({ status: { addresses: [{ type: "ExternalIP", address: "203.0.113.1" }] } })],
    ["another pod network", aNodeObject({ spec: { podCIDRs: ["10.1.9.0/24"] } })],
    ["a pod network that comes late", aNodeObject({ spec: { podCIDRs: [] } })],
    ["another key", aNodeObject({}, { key: aKey("other") })],
    ["an endpoint", aNodeObject({}, { "clustermesh-endpoint": "192.0.2.1:1" })],
  ])("is another with %s", (_, object) => {
    expect(sameNodeRecord(readNode(aNodeObject()), readNode(object))).toBe(false);
  });
});

describe("the endpoint of a node", () => {
  const reached = (facts: Partial<NodeFacts>, wireguardPort = 51820) => {
    const [entry] = aMesh(2).entries;
    const node = entry && admitNode({ ...entry, wireguardPort }, aNode(1, 0, { forceEndpoint: "", ...facts }));
    return node?.kind === "admitted" ? node.endpoint : undefined;
  };

  it("that is its external address has the port of its entry", () => {
    expect(reached({ externalIps: ["203.0.113.5"] }, 7)).toEqual({ host: { ip: "203.0.113.5" }, port: 7 });
    expect(reached({ externalIps: ["2001:db8::5"] }, 7)).toEqual({ host: { ip: "2001:db8::5" }, port: 7 });
  });

  it("that an annotation names has the port of the annotation", () => {
    expect(reached({ forceEndpoint: "203.0.113.5:9" }, 7)).toEqual({ host: { ip: "203.0.113.5" }, port: 9 });
  });
});

describe("a reason to skip a node", () => {
  it.each<[SkipReason, boolean]>([
    ["NodeNoPodCIDR", true],
    ["NodePodCIDROutOfRange", false],
    ["NodeNoWireguardIP", true],
    ["WGIPInvalid", false],
    ["WGIPOutOfRange", false],
    ["NodeNoPublicKey", true],
    ["NodeKeyInvalid", false],
    ["NodeEndpointInvalid", false],
    ["NodeNoEndpoint", false],
  ])("%s passes by itself: %s, and says what a person does next", (reason, waits) => {
    expect(skipReasons[reason].waits).toBe(waits);
    expect(skipReasons[reason].hint).toMatch(/.{20}/);
  });

  it("is in the table, or there is none", () => {
    expect(Object.keys(skipReasons)).toHaveLength(9);
  });
});

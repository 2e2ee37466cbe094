import { describe, expect, test } from "vitest";
import { deriveEndpointId } from "../identity.ts";
import { announcementOf, type InstanceRecord, readRecord } from "./mdns-record.ts";

const key = new Uint8Array(32);
const self = { endpointId: deriveEndpointId(key, "a"), nodeId: "a", formationId: "ours", port: 4001 };
const otherId = deriveEndpointId(key, "b");

function aRecord({ txt, ...overrides }: Partial<InstanceRecord> = {}): InstanceRecord {
  return {
    instance: "peat-b",
    port: 4002,
    addresses: ["192.168.1.7", "fd00::7"],
    txt: { node_id: otherId, port: "4002", formation_id: "ours", ...txt },
    ...overrides,
  };
}

const memberOf = (record: InstanceRecord) => {
  const reading = readRecord(record, self);
  return "member" in reading ? reading.member : undefined;
};

describe("a record of the LAN", () => {
  test("of our formation is a member", () => {
    expect(readRecord(aRecord({ txt: { zone: "one", relay_url: "https://relay.example" } }), self)).toEqual({
      member: {
        origin: "mdns",
        name: "peat-b",
        isPod: false,
        addresses: ["192.168.1.7:4002", "[fd00::7]:4002"],
        metadata: { zone: "one" },
        relayUrl: "https://relay.example",
        endpointId: otherId,
        dialable: true,
      },
    });
  });

  test.each<[string, Partial<InstanceRecord>, string]>([
    ["our own", { txt: { node_id: self.endpointId } }, "IsSelf"],
    ["of another formation", { txt: { formation_id: "theirs" } }, "OtherFormation"],
    ["without an endpoint id", { txt: { node_id: "node-b" } }, "IdentityInvalid"],
    ["with addresses that only its own machine can use", { addresses: ["fe80::1", "127.0.0.1", "::1"] }, "NoAddress"],
    ["with addresses that are none", { addresses: ["host.local", "224.0.0.251", "0.0.0.0"] }, "NoAddress"],
    ["without a port", { port: 0, txt: { port: "none" } }, "NoAddress"],
  ])("%s is none", (_, overrides, reason) => {
    expect(readRecord(aRecord(overrides), self)).toEqual({ reason });
  });

  test("that says no formation is none", () => {
    const record = { ...aRecord(), txt: { node_id: otherId } };
    expect(readRecord(record, self)).toEqual({ reason: "OtherFormation" });
  });

  test("without a usable address is reached where it came from", () => {
    expect(memberOf(aRecord({ addresses: ["fe80::1"], sender: "192.168.1.9" }))?.addresses).toEqual([
      "192.168.1.9:4002",
    ]);
    expect(memberOf(aRecord({ sender: "192.168.1.9" }))?.addresses).not.toContain("192.168.1.9:4002");
  });

  test("has its link port in the text, else in the service", () => {
    expect(memberOf(aRecord({ port: 1 }))?.addresses[0]).toBe("192.168.1.7:4002");
    expect(memberOf(aRecord({ port: 1, txt: { port: "99999" } }))?.addresses[0]).toBe("192.168.1.7:1");
  });

  test("cannot make us dial without end", () => {
    const addresses = Array.from({ length: 200 }, (_, n) => `10.0.0.${n}`);
    expect(memberOf(aRecord({ addresses }))?.addresses).toHaveLength(32);
  });
});

describe("what a node says of itself", () => {
  test("is a member to the others, and nobody to itself", () => {
    const said = { ...announcementOf(self), addresses: ["192.168.1.5"] };
    const other = { ...self, endpointId: otherId };
    expect(said.instance).toBe("peat-a");
    expect(readRecord(said, other)).toMatchObject({
      member: { endpointId: self.endpointId, addresses: ["192.168.1.5:4001"] },
    });
    expect(readRecord(said, self)).toEqual({ reason: "IsSelf" });
  });

  test.each(["x".repeat(200), "ü".repeat(60), `${"x".repeat(57)}ü`, "a.b.c"])("fits into a DNS label: %s", (nodeId) => {
    const { instance } = announcementOf({ ...self, nodeId });
    expect(Buffer.byteLength(instance)).toBeLessThanOrEqual(63);
    expect(instance).toMatch(/^peat-[^.\uFFFD]+$/u);
    expect(announcementOf({ ...self, nodeId: `${nodeId}2` }).instance).not.toBe(instance);
  });
});

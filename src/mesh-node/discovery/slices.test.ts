import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anEndpoint, aSlice, grpcPort, quicPort } from "../../../test/support/slices.ts";
import { type EndpointSlice, readSlice, type SlicePort } from "./slice-facts.ts";
import { membersOf, type SliceOptions } from "./slices.ts";

const idA = "a".repeat(64);
const idB = "b".repeat(64);

function read(slices: readonly EndpointSlice[], options: Partial<SliceOptions> = {}) {
  const facts = slices.map((slice) => readSlice(slice, "peat."));
  return membersOf(facts, { defaultPort: 11_204, ...options });
}

const members = (...slices: readonly EndpointSlice[]) => read(slices).members;
const onePod = { endpoints: [anEndpoint("peat-0", "10.44.0.10")] };

describe("the members of a slice", () => {
  test("are its pods, with the address and port to link to", () => {
    expect(members(aSlice())).toMatchObject([
      { origin: "kubernetes", name: "peat-0", isPod: true, podNamespace: "mesh", addresses: ["10.44.0.10:4433"] },
      { name: "peat-1", addresses: ["10.44.0.11:4433"], dialable: true },
    ]);
  });

  test.each([null, []])("are none when there are no endpoints: %j", (endpoints) => {
    expect(read([aSlice({ endpoints })])).toEqual({ members: [], notes: [] });
  });

  test("without a target are known by their first address, and nothing can be derived from that", () => {
    const endpoints = [{ addresses: ["10.44.0.10", "10.44.0.12"] }];
    expect(members(aSlice({ endpoints }))).toMatchObject([
      { name: "10.44.0.10", isPod: false, addresses: ["10.44.0.10:4433", "10.44.0.12:4433"] },
    ]);
  });

  test("whose target is no pod keep its name, and nothing can be derived from that", () => {
    const endpoints = [anEndpoint("", "10.44.0.10", { targetRef: { kind: "Node", name: "worker" } })];
    expect(members(aSlice({ endpoints }))).toMatchObject([{ name: "worker", isPod: false }]);
  });

  test("have IPv6 addresses in brackets and in one spelling", () => {
    const endpoints = [anEndpoint("peat-0", "FD00:0:0::10")];
    expect(members(aSlice({ addressType: "IPv6", endpoints }))[0]?.addresses).toEqual(["[fd00::10]:4433"]);
  });

  test.each([
    ["a host name", ["peat-0.example.org"]],
    ["an address with a zone", ["fe80::1%eth0"]],
    ["no address", []],
    ["null", null],
  ])("that have only %s are left out, and that is said", (_, addresses) => {
    const reading = read([aSlice({ endpoints: [anEndpoint("peat-0", "", { addresses })] })]);
    expect(reading).toEqual({ members: [], notes: [{ name: "peat-0", reason: "NoAddress" }] });
  });

  test("with neither target nor address are nobody", () => {
    expect(read([aSlice({ endpoints: [{ addresses: [] }, {}] })])).toEqual({ members: [], notes: [] });
  });
});

describe("the port", () => {
  const tcp = (port: number, name = ""): SlicePort => ({ name, port, protocol: "TCP" });
  const udp = (port: number, name = ""): SlicePort => ({ name, port, protocol: "UDP" });

  test.each<[string, readonly SlicePort[] | null, number]>([
    ["the named one, wherever it stands", [tcp(1, "grpc"), udp(2, "metrics"), udp(3, "iroh-quic")], 3],
    ["the named one, also when its protocol was forgotten", [udp(1, "other"), { name: "iroh-quic", port: 2 }], 2],
    ["the only UDP one", [tcp(1, "a"), udp(2, "b"), tcp(3, "c")], 2],
    ["the only one", [tcp(1, "grpc")], 1],
    ["our own, when two could be it", [udp(1, "a"), udp(2, "b")], 11_204],
    ["our own, when there is none", [], 11_204],
    ["our own, when ports are null", null, 11_204],
    ["our own, when the port has no number", [{ name: "iroh-quic", port: null }], 11_204],
  ])("is %s", (_, ports, expected) => {
    expect(members(aSlice({ ...onePod, ports }))[0]?.addresses).toEqual([`10.44.0.10:${expected}`]);
  });

  test("may have another name", () => {
    const { members: found } = read([aSlice(onePod)], { portName: "grpc" });
    expect(found[0]?.addresses).toEqual(["10.44.0.10:50051"]);
  });

  test("of the API that a second Service shows is not added, whichever slice comes first", () => {
    for (const name of ["aaa", "zzz"]) {
      const second = aSlice({ ...onePod, name, ports: [grpcPort] });
      expect(members(aSlice({ ...onePod, name: "mmm" }), second)[0]?.addresses).toEqual(["10.44.0.10:4433"]);
    }
  });
});

describe("a pod in several slices", () => {
  test("is one member with both families", () => {
    const v6 = aSlice({ name: "v6", addressType: "IPv6", endpoints: [anEndpoint("peat-0", "fd00::10")] });
    expect(members(aSlice(onePod), v6)).toMatchObject([{ addresses: ["10.44.0.10:4433", "[fd00::10]:4433"] }]);
  });

  test("uses its link port in the family that only the other Service shows", () => {
    const endpoints = [anEndpoint("peat-0", "fd00::10")];
    const v6 = aSlice({ name: "v6", addressType: "IPv6", endpoints, ports: [grpcPort] });
    expect(members(aSlice(onePod), v6)[0]?.addresses).toEqual(["10.44.0.10:4433", "[fd00::10]:4433"]);
  });

  test("is a member once while it moves from one slice to the other", () => {
    expect(members(aSlice(onePod), aSlice({ ...onePod, name: "second" }))).toHaveLength(1);
  });

  test("that came back under its old name is found at its new address only", () => {
    const conditions = { ready: false, terminating: true };
    const old = aSlice({ endpoints: [anEndpoint("peat-0", "10.44.0.10", { conditions })] });
    const targetRef = { kind: "Pod", namespace: "mesh", name: "peat-0", uid: "another" };
    const back = aSlice({ name: "second", endpoints: [anEndpoint("peat-0", "10.44.0.99", { targetRef })] });
    expect(members(old, back)).toMatchObject([{ addresses: ["10.44.0.99:4433"], dialable: true }]);
  });
});

describe("a member gets new links", () => {
  test.each([
    ["ready", { ready: true }, true],
    ["of unsaid readiness", { ready: null }, true],
    ["without conditions", null, true],
    ["not ready", { ready: false }, false],
    ["terminating", { ready: false, terminating: true }, false],
    ["terminating, but published as ready", { ready: true, terminating: true }, false],
  ])("when it is %s: %j → %s", (_, conditions, dialable) => {
    const endpoints = [anEndpoint("peat-0", "10.44.0.10", { conditions })];
    expect(members(aSlice({ endpoints }))).toMatchObject([{ name: "peat-0", dialable }]);
  });

  test("when one Service publishes it before it is ready and another does not", () => {
    const waiting = anEndpoint("peat-0", "10.44.0.10", { conditions: { ready: false } });
    expect(members(aSlice(onePod), aSlice({ name: "second", endpoints: [waiting] }))[0]?.dialable).toBe(true);
  });

  test("no longer when one of its slices says that it is terminating", () => {
    const leaving = anEndpoint("peat-0", "10.44.0.10", { conditions: { ready: false, terminating: true } });
    expect(members(aSlice(onePod), aSlice({ name: "second", endpoints: [leaving] }))[0]?.dialable).toBe(false);
  });
});

describe("annotations", () => {
  test("with our prefix become metadata without it; relay_url has a field of its own", () => {
    const annotations = {
      "peat.region": "north",
      "peat.relay_url": "https://relay.example",
      "peat.": "nothing",
      "endpoints.kubernetes.io/last-change-trigger-time": "now",
    };
    expect(members(aSlice({ ...onePod, annotations }))).toMatchObject([
      { metadata: { region: "north" }, relayUrl: "https://relay.example" },
    ]);
  });

  test("declare the identity of one pod among several", () => {
    const [first, second] = members(aSlice({ annotations: { "peat.endpoint_id.peat-1": idB.toUpperCase() } }));
    expect(first).not.toHaveProperty("endpointId");
    expect(second).toMatchObject({ endpointId: idB, metadata: {} });
  });

  test("declare the identity of a slice with one endpoint, and one for the pod goes before it", () => {
    const annotations = { "peat.endpoint_id": idA };
    expect(members(aSlice({ ...onePod, annotations }))[0]?.endpointId).toBe(idA);
    const both = { ...annotations, "peat.endpoint_id.peat-0": idB };
    expect(members(aSlice({ ...onePod, annotations: both }))[0]?.endpointId).toBe(idB);
    const elsewhere = aSlice({ ...onePod, name: "zzz", annotations: { "peat.endpoint_id.peat-0": idB } });
    expect(members(aSlice({ ...onePod, annotations }), elsewhere)[0]?.endpointId).toBe(idB);
  });

  test("that declare one identity for several endpoints are ignored, and that is said", () => {
    const { members: found, notes } = read([aSlice({ annotations: { "peat.endpoint_id": idA } })]);
    expect(found.map(({ endpointId }) => endpointId)).toEqual([undefined, undefined]);
    expect(notes).toEqual([{ name: "peat-abc12", reason: "IdentityShared" }]);
  });

  test("that declare nonsense make the pod a member that cannot be a peer", () => {
    const [member] = members(aSlice({ ...onePod, annotations: { "peat.endpoint_id.peat-0": "nonsense" } }));
    expect(member).toMatchObject({ name: "peat-0", problem: "IdentityInvalid" });
    expect(member).not.toHaveProperty("endpointId");
  });
});

test("the order of slices, endpoints and ports does not matter", () => {
  const endpoints = ["peat-0", "peat-1", "peat-2", "peat-3"].map((pod, n) => anEndpoint(pod, `10.44.0.1${n}`));
  const slices = [
    aSlice({ name: "a", endpoints, annotations: { "peat.zone": "one" } }),
    aSlice({ name: "b", endpoints: endpoints.slice(0, 2), annotations: { "peat.zone": "two" }, ports: [grpcPort] }),
    aSlice({ name: "c", endpoints: [anEndpoint("peat-3", "fd00::13")], ports: [quicPort] }),
  ];
  const shuffled = <T>(items: readonly T[]) => fc.shuffledSubarray([...items], { minLength: items.length });
  const expected = read(slices);
  fc.assert(
    fc.property(shuffled(slices), shuffled(endpoints), shuffled([grpcPort, quicPort]), (order, pods, ports) => {
      const mixed = order.map((slice) => (slice.metadata.name === "a" ? { ...slice, endpoints: pods, ports } : slice));
      expect(read(mixed)).toEqual(expected);
    }),
  );
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deriveEndpointId, type EndpointId, endpointIdDeriver } from "../identity.ts";
import type { Member } from "./member.ts";
import { buildRoster, diffRoster, type Peer, type RosterInput } from "./roster.ts";

const sharedKey = new Uint8Array(32).fill(7);
const derive = endpointIdDeriver(sharedKey);
const id = (digit: string) => digit.repeat(64) as EndpointId;

function aMember(name: string, overrides: Partial<Member> = {}): Member {
  const addresses = [`10.44.0.${10 + Number(name.at(-1))}:4433`];
  return { origin: "kubernetes", name, isPod: true, addresses, metadata: {}, dialable: true, ...overrides };
}

function rosterOf(overrides: Partial<RosterInput> = {}) {
  const self = { id: derive("peat-0"), podName: "peat-0" };
  return buildRoster({ self, members: [], staticPeers: [], derive, ...overrides });
}

describe("the roster", () => {
  test("holds every other pod under the identity that follows from its name", () => {
    const { peers, skipped } = rosterOf({ members: [aMember("peat-0"), aMember("peat-1"), aMember("peat-2")] });
    expect(peers.map(({ name, id }) => [name, id]).sort()).toEqual([
      ["peat-1", deriveEndpointId(sharedKey, "peat-1")],
      ["peat-2", deriveEndpointId(sharedKey, "peat-2")],
    ]);
    expect(skipped).toEqual([{ name: "peat-0", reason: "IsSelf" }]);
  });

  test("leaves this node out by its pod name, whatever was declared of it", () => {
    const { peers, skipped } = rosterOf({ members: [aMember("peat-0", { endpointId: id("b") })] });
    expect([peers, skipped]).toEqual([[], [{ name: "peat-0", reason: "IsSelf" }]]);
  });

  test.each([
    ["discovered under another name", { members: [aMember("peat-5", { endpointId: derive("peat-0") })] }],
    ["discovered by an address", { members: [aMember("10.0.0.1", { isPod: false, endpointId: derive("peat-0") })] }],
    ["derived without POD_NAME", { self: { id: derive("peat-0") }, members: [aMember("peat-0")] }],
    ["configured as a peer", { staticPeers: [{ id: derive("peat-0"), addresses: ["10.0.0.1:1"] }] }],
  ])("leaves this node out by its endpoint id: %s", (_, input) => {
    expect(rosterOf(input).peers).toEqual([]);
  });

  test("prefers a declared identity to the derived one", () => {
    const { peers } = rosterOf({ members: [aMember("peat-1", { endpointId: id("b") })] });
    expect(peers).toMatchObject([{ id: id("b"), name: "peat-1" }]);
  });

  test("skips, with the reason, who has no identity", () => {
    const members = [
      aMember("peat-1"),
      aMember("peat-2", { endpointId: id("b") }),
      aMember("peat-3", { problem: "IdentityInvalid" }),
    ];
    const { derive: _, ...withoutKey } = { self: { id: id("0") }, members, staticPeers: [], derive };
    const { peers, skipped } = buildRoster(withoutKey);
    expect(peers.map(({ name }) => name)).toEqual(["peat-2"]);
    expect(skipped).toEqual([
      { name: "peat-1", reason: "NoIdentity" },
      { name: "peat-3", reason: "IdentityInvalid" },
    ]);
  });

  test("derives nothing from the address of an endpoint that is no pod", () => {
    expect(rosterOf({ members: [aMember("10.44.0.9", { isPod: false })] }).skipped).toEqual([
      { name: "10.44.0.9", reason: "NoIdentity" },
    ]);
  });

  test("holds a peer once that is configured and discovered, with all its addresses, and as one that stays", () => {
    const staticPeers = [{ id: derive("peat-1"), addresses: ["192.0.2.1:4433"] }];
    const members = [aMember("peat-1", { dialable: false })];
    expect(rosterOf({ staticPeers, members }).peers).toEqual([
      {
        id: derive("peat-1"),
        name: "peat-1",
        addresses: ["10.44.0.11:4433", "192.0.2.1:4433"],
        origin: "static",
        dialable: true,
      },
    ]);
  });

  test("holds a peer whose host name is not resolved yet", () => {
    const staticPeers = [{ id: id("b"), addresses: [] }];
    expect(rosterOf({ staticPeers }).peers).toMatchObject([{ id: id("b"), addresses: [] }]);
  });

  test("keeps a member that is on its way out, as one that gets no new link", () => {
    expect(rosterOf({ members: [aMember("peat-1", { dialable: false })] }).peers).toMatchObject([{ dialable: false }]);
  });

  test("is the same whatever the order of members", () => {
    const members = ["peat-1", "peat-2", "peat-3", "peat-4"].map((name) => aMember(name));
    const twins = [aMember("peat-5", { endpointId: id("b") }), aMember("peat-6", { endpointId: id("b") })];
    const all = [...members, ...twins];
    const expected = rosterOf({ members: all });
    expect(expected.peers).toHaveLength(5);
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
        expect(rosterOf({ members: shuffled })).toEqual(expected);
      }),
    );
  });
});

describe("the difference between two rosters", () => {
  const peer = (digit: string, overrides: Partial<Peer> = {}): Peer => ({
    id: id(digit),
    name: `peat-${digit}`,
    addresses: ["10.44.0.10:4433"],
    origin: "kubernetes",
    dialable: true,
    ...overrides,
  });

  test("names who was found, who changed and who was lost", () => {
    const moved = peer("b", { addresses: ["10.44.0.99:4433"] });
    expect(diffRoster([peer("a"), peer("b"), peer("c")], [moved, peer("c"), peer("d")])).toEqual([
      { kind: "lost", peer: peer("a") },
      { kind: "updated", peer: moved, was: peer("b") },
      { kind: "found", peer: peer("d") },
    ]);
  });

  test("is nothing between equal rosters", () => {
    expect(diffRoster([peer("a"), peer("b")], [peer("a"), peer("b")])).toEqual([]);
  });

  test.each<[string, Partial<Peer>]>([
    ["its name", { name: "other" }],
    ["its origin", { origin: "static" }],
    ["whether it is dialed", { dialable: false }],
  ])("sees %s", (_, change) => {
    expect(diffRoster([peer("a")], [peer("a", change)])).toMatchObject([{ kind: "updated" }]);
  });

  test("leads from the one to the other", () => {
    const aRoster = fc.uniqueArray(
      fc.record({ digit: fc.constantFrom(..."abcdef"), dialable: fc.boolean() }).map(({ digit, dialable }) => {
        return peer(digit, { dialable });
      }),
      { selector: ({ id: key }) => key },
    );
    fc.assert(
      fc.property(aRoster, aRoster, (before, after) => {
        const result = new Map(before.map((one) => [one.id, one]));
        for (const event of diffRoster(before, after)) {
          if (event.kind === "lost") result.delete(event.peer.id);
          else result.set(event.peer.id, event.peer);
        }
        expect(new Set(result.values())).toEqual(new Set(after));
      }),
    );
  });
});

import { describe, expect, it } from "vitest";
import { anId } from "../../../test/mesh-node/sidecar-ports.ts";
import { logTail } from "../../../test/support/log-tail.ts";
import { RosterKeeper } from "./keep-roster.ts";
import type { Member } from "./member.ts";
import type { Peer } from "./roster.ts";

function aMember(overrides: Partial<Member> = {}): Member {
  const { name = "pod-b" } = overrides;
  return {
    origin: "kubernetes",
    name,
    isPod: true,
    addresses: ["10.0.0.2:7"],
    metadata: {},
    dialable: true,
    ...overrides,
  };
}

function aKeeper() {
  const wanted: (readonly Peer[])[] = [];
  const { log, lines } = logTail();
  const keeper = new RosterKeeper({
    self: { id: anId("a"), podName: "pod-a" },
    want: (peers) => wanted.push(peers),
    log,
  });
  return { keeper, wanted, lines };
}

const known = aMember({ endpointId: anId("b") });

describe("the roster of a node", () => {
  it("brings static and discovered peers together, one of each id, and tells it only when it changed", () => {
    const { keeper, wanted, lines } = aKeeper();
    keeper.setStaticPeers([{ id: anId("b"), addresses: ["10.0.0.9:7"] }]);
    keeper.setMembers([known]);
    keeper.setMembers([known]);
    expect(wanted.map((peers) => peers.map(({ id, addresses }) => ({ id, addresses })))).toEqual([
      [{ id: anId("b"), addresses: ["10.0.0.9:7"] }],
      [{ id: anId("b"), addresses: ["10.0.0.2:7", "10.0.0.9:7"] }],
    ]);
    expect(lines().map((line) => line.replace(/^\S+ (\w+ \w+ \w+) .*/, "$1"))).toEqual([
      "info peer found",
      "info peer updated",
    ]);
  });

  it("loses who left, but not a static peer", () => {
    const { keeper, wanted } = aKeeper();
    keeper.setStaticPeers([{ id: anId("c"), addresses: ["10.0.0.3:7"] }]);
    keeper.setMembers([known]);
    keeper.setMembers([]);
    expect(wanted.at(-1)?.map(({ id }) => id)).toEqual([anId("c")]);
  });

  it("says once whom it skips, again when that one was gone in between, and never itself", () => {
    const { keeper, lines } = aKeeper();
    const nameless = aMember({ name: "pod-x" });
    const self = aMember({ name: "pod-a" });
    for (const members of [[nameless, self], [nameless], [], [nameless]]) keeper.setMembers(members);
    expect(lines().filter((line) => line.includes("member skipped"))).toHaveLength(2);
    expect(lines().join()).not.toContain("pod-a");
    expect(keeper.roster.skipped).toEqual([{ name: "pod-x", reason: "NoIdentity" }]);
  });
});

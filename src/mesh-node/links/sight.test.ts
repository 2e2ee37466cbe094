import { describe, expect, it } from "vitest";
import { anId } from "../../../test/mesh-node/sidecar-ports.ts";
import type { Peer } from "../discovery/roster.ts";
import type { LinkInfo } from "./link.ts";
import { seenPeers } from "./sight.ts";

const aPeer = (digit: string): Peer => ({
  id: anId(digit),
  addresses: [`10.0.0.${digit}:7`],
  origin: "kubernetes",
  dialable: true,
});

const aLink = (digit: string): LinkInfo => ({
  peer: anId(digit),
  direction: "accepted",
  since: new Date(0),
  address: "10.9.9.9:1",
  traffic: { bytesSent: 0, bytesReceived: 0 },
});

describe("who a node sees", () => {
  it("is every wanted peer with how it stands and why", () => {
    const states = [
      { peer: aPeer("3"), progress: { kind: "waiting", reason: "DialTimeout" } as const },
      { peer: aPeer("1"), progress: { kind: "linked", link: aLink("1") } as const },
      { peer: aPeer("2"), progress: { kind: "dialing" } as const },
    ];
    const seen = seenPeers({ roster: states.map(({ peer }) => peer), states, links: [aLink("1")] });
    expect(seen.map(({ id, state, reason }) => [id[0], state, reason])).toEqual([
      ["1", "linked", undefined],
      ["2", "dialing", undefined],
      ["3", "waiting", "DialTimeout"],
    ]);
  });

  it("is also who was told to stay away, and who came by itself", () => {
    const seen = seenPeers({ roster: [aPeer("1")], states: [], links: [aLink("5")] });
    expect(seen).toMatchObject([
      { id: anId("1"), state: "disconnected", origin: "kubernetes" },
      { id: anId("5"), state: "linked", origin: "connected", addresses: ["10.9.9.9:1"] },
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { anId } from "../../../test/mesh-node/sidecar-ports.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { logTail } from "../../../test/support/log-tail.ts";
import { StaticPeers, type StaticPeersOptions } from "./static-peers.ts";

function aWorld(overrides: Partial<StaticPeersOptions> = {}) {
  const clock = new FakeClock();
  const names = new Map<string, readonly string[]>();
  const asked: string[] = [];
  const linked = new Set<string>();
  let changes = 0;
  const { log, lines } = logTail();
  const peers = new StaticPeers({
    peers: [{ id: anId("b"), addresses: [{ host: "b.example", port: 7 }] }],
    lookup: async (name) => {
      asked.push(name);
      const ips = names.get(name);
      if (!ips) throw Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" });
      return ips;
    },
    isLinked: (id) => linked.has(id),
    onChange: () => {
      changes++;
    },
    clock,
    log,
    random: () => 1,
    ...overrides,
  });
  return { clock, names, asked, linked, peers, lines, changes: () => changes };
}

describe("a peer that is named by its host", () => {
  it("has every address of the name, of both families", async () => {
    const { names, peers, clock, changes } = aWorld();
    names.set("b.example", ["fd00::1", "10.0.0.2", "10.0.0.2"]);
    peers.start();
    await clock.settle();
    expect(peers.peers()).toEqual([{ id: anId("b"), addresses: ["10.0.0.2:7", "[fd00::1]:7"] }]);
    expect(changes()).toBe(1);
    await peers.close();
    expect(clock.sleeping).toBe(0);
  });

  it("is there without address while the name has none, which is logged once and tried again", async () => {
    const { names, peers, clock, lines } = aWorld();
    peers.start();
    await clock.advance(10_000);
    expect(peers.peers()).toEqual([{ id: anId("b"), addresses: [] }]);
    expect(lines().filter((line) => line.includes("cannot be resolved"))).toHaveLength(1);
    names.set("b.example", ["10.0.0.2"]);
    await clock.advance(31_000);
    expect(peers.peers()[0]?.addresses).toEqual(["10.0.0.2:7"]);
    await peers.close();
  });

  it("keeps its addresses while the name server is away, and follows the name when it moves", async () => {
    const { names, peers, clock } = aWorld();
    names.set("b.example", ["10.0.0.2"]);
    peers.start();
    await clock.settle();
    names.delete("b.example");
    await clock.advance(60_000);
    expect(peers.peers()[0]?.addresses).toEqual(["10.0.0.2:7"]);
    names.set("b.example", ["10.0.0.9"]);
    await clock.advance(60_000);
    expect(peers.peers()[0]?.addresses).toEqual(["10.0.0.9:7"]);
    await peers.close();
  });

  it("is not asked for again while it is linked", async () => {
    const { names, asked, linked, peers, clock } = aWorld();
    names.set("b.example", ["10.0.0.2"]);
    linked.add(anId("b"));
    peers.start();
    await clock.advance(300_000);
    expect(asked).toEqual([]);
    linked.clear();
    await clock.advance(30_000);
    expect(asked).toEqual(["b.example"]);
    await peers.close();
  });

  it("does not wait for a name server that never answers", async () => {
    const { peers, clock } = aWorld({ lookup: () => new Promise(() => undefined) });
    peers.start();
    await clock.advance(6_000);
    expect(peers.peers()[0]?.addresses).toEqual([]);
    await peers.close();
    expect(clock.sleeping).toBe(0);
  });
});

describe("a peer that is named while the node runs", () => {
  it("is one with what is known of it, and its names are resolved at once", async () => {
    const { names, peers, clock } = aWorld();
    names.set("b.example", ["10.0.0.2"]).set("other.example", ["10.0.0.3"]);
    peers.start();
    await clock.settle();
    peers.add(anId("b"), [
      { host: "b.example", port: 7 },
      { host: "other.example", port: 8 },
      { host: "10.0.0.4", port: 9 },
    ]);
    await clock.settle();
    expect(peers.peers()).toEqual([{ id: anId("b"), addresses: ["10.0.0.2:7", "10.0.0.3:8", "10.0.0.4:9"] }]);
    await peers.close();
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BedNode, LinkBed, wantEachOther } from "../../../test/support/link-bed.ts";
import type { LinkReason } from "../reasons.ts";

let bed: LinkBed;
beforeEach(() => {
  bed = new LinkBed();
});
afterEach(() => bed.close());

const linkedTo = (node: BedNode): string[] => node.manager.links().map(({ peer }) => peer);
const warnings = (node: BedNode, message: string) => node.lines.filter((line) => line.message === message);
const dials = (node: BedNode): string[] =>
  node.events.flatMap((event) => (event.kind === "dialed" ? event.outcome : []));
const downs = (node: BedNode): LinkReason[] =>
  node.events.flatMap((event) => (event.kind === "down" ? event.reason : []));

async function pair(): Promise<[BedNode, BedNode]> {
  const [lower, higher] = (await bed.startSorted(2)) as [BedNode, BedNode];
  return [lower, higher];
}

async function linkedPair(): Promise<[BedNode, BedNode]> {
  const [lower, higher] = await pair();
  wantEachOther([lower, higher]);
  await bed.clock.advance(2_000);
  expect([linkedTo(lower), linkedTo(higher)]).toEqual([[higher.id], [lower.id]]);
  return [lower, higher];
}

describe("a mesh", () => {
  it("has one link between every two that want each other", async () => {
    const nodes = await bed.startSorted(5);
    wantEachOther(nodes);
    await bed.clock.advance(2_000);
    for (const node of nodes) {
      expect(linkedTo(node)).toEqual(nodes.filter((other) => other !== node).map(({ id }) => id));
      expect(node.handled.history).toEqual(["up", "up", "up", "up"]);
      expect(node.handled.broken).toEqual([]);
    }
  });

  it("carries frames both ways in order, and counts them", async () => {
    const [lower, higher] = await linkedPair();
    await lower.handled.linkTo(higher.id)?.send(Buffer.from("one"));
    await lower.handled.linkTo(higher.id)?.send(Buffer.from("two"));
    await higher.handled.linkTo(lower.id)?.send(Buffer.from("back"));
    await bed.clock.advance(100);
    expect(higher.handled.frames.map(({ text }) => text)).toEqual(["one", "two"]);
    expect(lower.handled.frames.map(({ text }) => text)).toEqual(["back"]);
    expect(lower.manager.traffic()).toEqual({ bytesSent: 6, bytesReceived: 4 });
    await bed.clock.advance(60_000);
    expect(lower.handled.history).toEqual(["up"]);
  });

  it("is dialed once per pair: the higher id gives the lower a head start", async () => {
    const [lower, higher] = await linkedPair();
    expect([dials(lower), dials(higher)]).toEqual([["linked"], []]);
    expect(lower.manager.links()[0]).toMatchObject({ direction: "dialed", address: higher.transport.address });
    expect(higher.manager.links()[0]?.direction).toBe("accepted");
  });

  it("forms also when only the higher id knows the other, or can reach it", async () => {
    const [lower, higher] = await pair();
    higher.manager.want([lower.peer()]);
    await bed.clock.advance(1_000);
    expect([linkedTo(lower), linkedTo(higher)]).toEqual([[higher.id], [lower.id]]);
    expect(lower.manager.peers()).toEqual([]);
  });

  it("does not link a node to itself", async () => {
    const [lower] = await pair();
    lower.manager.want([lower.peer()]);
    await bed.clock.advance(5_000);
    expect([lower.manager.peers(), dials(lower)]).toEqual([[], []]);
    expect(await lower.manager.connect(lower.peer())).toEqual({ kind: "failed", reason: "IsSelf" });
  });
});

describe("a peer that cannot be reached", () => {
  it("is tried again with growing pauses, and named once in the log", async () => {
    const [lower, higher] = await pair();
    lower.manager.want([higher.peer({ addresses: ["10.9.9.9:1"] })]);
    await bed.clock.advance(5_100);
    expect(lower.manager.peers()[0]?.progress).toMatchObject({ kind: "waiting", reason: "DialTimeout" });
    await bed.clock.advance(10 * 60_000);
    expect(dials(lower).length).toBeGreaterThan(15);
    expect(dials(lower).length).toBeLessThan(40);
    expect(warnings(lower, "peer not linked")).toHaveLength(1);
  });

  it("is dialed at once when its address changes", async () => {
    const [lower, higher] = await pair();
    lower.manager.want([higher.peer({ addresses: ["10.9.9.9:1"] })]);
    await bed.clock.advance(120_000);
    lower.manager.want([higher.peer()]);
    await bed.clock.advance(5_500);
    expect(linkedTo(lower)).toEqual([higher.id]);
  });

  it("delays nobody: forty dead peers do not keep a live one waiting", async () => {
    const [lower, higher] = await pair();
    const dead = await Promise.all(Array.from({ length: 40 }, (_, index) => bed.start(`dead-${index}`)));
    for (const node of dead) await bed.crash(node);
    lower.manager.want(dead.map((node) => node.peer()));
    await bed.clock.advance(60_000);
    lower.manager.want([...dead, higher].map((node) => node.peer()));
    await bed.clock.advance(5_500);
    expect(linkedTo(lower)).toEqual([higher.id]);
  });

  it("has no address yet: it waits for one", async () => {
    const [lower, higher] = await pair();
    lower.manager.want([higher.peer({ addresses: [] })]);
    await bed.clock.advance(1_000);
    expect(lower.manager.peers()[0]?.progress).toMatchObject({ kind: "waiting", reason: "NoAddress" });
    lower.manager.want([higher.peer()]);
    await bed.clock.advance(100);
    expect(linkedTo(lower)).toEqual([higher.id]);
  });
});

describe("a link that breaks", () => {
  it("is noticed within 10 seconds when the peer dies without a word, and not earlier than 5", async () => {
    const [lower, higher] = await linkedPair();
    await bed.crash(higher);
    await bed.clock.advance(5_000);
    expect(linkedTo(lower)).toEqual([higher.id]);
    await bed.clock.advance(5_000);
    expect([linkedTo(lower), downs(lower)]).toEqual([[], ["Silent"]]);
  });

  it.each(["lower", "higher"])(
    "is replaced at once when the %s id comes back before its death was noticed",
    async (which) => {
      const [lower, higher] = await linkedPair();
      const [dying, other] = which === "lower" ? [lower, higher] : [higher, lower];
      await bed.crash(dying);
      await bed.clock.advance(2_000);
      const again = await bed.start(dying.name);
      again.manager.want([other.peer()]);
      await bed.clock.advance(1_000);
      expect([linkedTo(again), linkedTo(other)]).toEqual([[other.id], [again.id]]);
      expect([other.handled.history, downs(other)]).toEqual([["up", "down", "up"], ["Superseded"]]);
      await bed.clock.advance(60_000);
      expect(other.handled.history).toHaveLength(3);
    },
  );

  it("is made again by itself after the network was cut and healed", async () => {
    const [lower, higher] = await linkedPair();
    bed.network.cut(lower.id, higher.id);
    await bed.clock.advance(40_000);
    expect([linkedTo(lower), linkedTo(higher)]).toEqual([[], []]);
    bed.network.heal(lower.id, higher.id);
    await bed.clock.advance(32_000);
    expect([linkedTo(lower), linkedTo(higher)]).toEqual([[higher.id], [lower.id]]);
  });

  it("survives a cut that is shorter than the silence", async () => {
    const [lower, higher] = await linkedPair();
    bed.network.cut(lower.id, higher.id);
    await bed.clock.advance(4_000);
    bed.network.heal(lower.id, higher.id);
    await bed.clock.advance(20_000);
    expect([lower.handled.history, higher.handled.history]).toEqual([["up"], ["up"]]);
  });

  it("is not taken for dead by a process that was stopped for a minute", async () => {
    const [lower] = await linkedPair();
    bed.clock.jump(60_000);
    await bed.clock.advance(20_000);
    expect(lower.handled.history).toEqual(["up"]);
  });

  it("goes down at once when the peer says goodbye", async () => {
    const [lower, higher] = await linkedPair();
    await higher.manager.close();
    await bed.clock.advance(100);
    expect([linkedTo(lower), downs(lower), downs(higher)]).toEqual([[], ["PeerLeaving"], ["TransportClosed"]]);
  });
});

describe("a peer that left", () => {
  it("loses its link after a grace", async () => {
    const [lower, higher] = await linkedPair();
    lower.manager.want([]);
    higher.manager.want([]);
    await bed.clock.advance(4_000);
    expect(linkedTo(lower)).toEqual([higher.id]);
    await bed.clock.advance(1_500);
    expect([linkedTo(lower), lower.manager.peers()]).toEqual([[], []]);
    await bed.clock.advance(60_000);
    expect(linkedTo(lower)).toEqual([]);
  });

  it("keeps its link when it returns within the grace", async () => {
    const [lower, higher] = await linkedPair();
    lower.manager.want([]);
    await bed.clock.advance(4_000);
    lower.manager.want([higher.peer()]);
    await bed.clock.advance(20_000);
    expect([linkedTo(lower), lower.handled.history]).toEqual([[higher.id], ["up"]]);
  });

  it("is not dialed while it is not ready, keeps the link it has, and is dialed when it is ready", async () => {
    const [lower, higher] = await pair();
    lower.manager.want([higher.peer({ dialable: false })]);
    await bed.clock.advance(10_000);
    expect(dials(lower)).toEqual([]);
    expect(lower.manager.peers()[0]?.progress).toEqual({ kind: "waiting" });
    lower.manager.want([higher.peer()]);
    await bed.clock.advance(500);
    lower.manager.want([higher.peer({ dialable: false })]);
    await bed.clock.advance(60_000);
    expect([linkedTo(lower), lower.handled.history]).toEqual([[higher.id], ["up"]]);
  });
});

describe("a peer that is disconnected by hand", () => {
  it("gets no link, whoever dials, until it is connected by hand", async () => {
    const [lower, higher] = await linkedPair();
    lower.manager.disconnect(higher.id);
    await bed.clock.advance(60_000);
    expect([linkedTo(lower), linkedTo(higher), lower.manager.peers()]).toEqual([[], [], []]);
    lower.manager.want([higher.peer()]);
    await bed.clock.advance(60_000);
    expect(linkedTo(lower)).toEqual([]);
    const connecting = lower.manager.connect(higher.peer());
    await bed.clock.advance(1_000);
    expect([await connecting, linkedTo(lower), linkedTo(higher)]).toEqual([
      { kind: "linked" },
      [higher.id],
      [lower.id],
    ]);
  });
});

describe("a peer that is connected by hand", () => {
  it("is linked, and linked again when the link breaks", async () => {
    const [lower, higher] = await pair();
    const connecting = lower.manager.connect(higher.peer());
    await bed.clock.advance(1_000);
    expect(await connecting).toEqual({ kind: "linked" });
    expect(await lower.manager.connect(higher.peer())).toEqual({ kind: "linked" });
    lower.manager.want([]);
    bed.network.cut(lower.id, higher.id);
    await bed.clock.advance(10_000);
    bed.network.heal(lower.id, higher.id);
    await bed.clock.advance(32_000);
    expect(linkedTo(lower)).toEqual([higher.id]);
  });

  it("is told why it failed, and tried again", async () => {
    const [lower, higher] = await pair();
    bed.network.cut(lower.id, higher.id);
    const connecting = lower.manager.connect(higher.peer());
    await bed.clock.advance(6_000);
    expect(await connecting).toEqual({ kind: "failed", reason: "DialTimeout" });
    bed.network.heal(lower.id, higher.id);
    await bed.clock.advance(32_000);
    expect(linkedTo(lower)).toEqual([higher.id]);
  });

  it("is answered when the node shuts down meanwhile", async () => {
    const [lower, higher] = await pair();
    bed.network.cut(lower.id, higher.id);
    const connecting = lower.manager.connect(higher.peer());
    await bed.clock.advance(1_000);
    await lower.manager.close();
    expect(await connecting).toEqual({ kind: "failed", reason: "TransportClosed" });
    expect(await lower.manager.connect(higher.peer())).toEqual({ kind: "failed", reason: "TransportClosed" });
  });
});

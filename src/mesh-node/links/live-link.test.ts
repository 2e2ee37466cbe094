import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BedNode, LinkBed, wantEachOther } from "../../../test/support/link-bed.ts";
import { type Link, type LinkHandler, maxFrameBytes } from "./link.ts";

let bed: LinkBed;
beforeEach(() => {
  bed = new LinkBed();
});
afterEach(() => bed.close());

async function linked(receive?: LinkHandler["receive"]): Promise<{ sender: BedNode; receiver: BedNode; link: Link }> {
  const receiver = await bed.start("receiver", receive ? { receive } : {});
  const sender = await bed.start("sender");
  wantEachOther([sender, receiver]);
  await bed.clock.advance(2_000);
  const link = sender.handled.linkTo(receiver.id);
  if (!link) throw new Error("the two are not linked");
  return { sender, receiver, link };
}

const downs = (node: BedNode) => node.events.flatMap((event) => (event.kind === "down" ? event.reason : []));

describe("a link", () => {
  it("gives the next frame to its handler when the one before is done", async () => {
    const steps: string[] = [];
    const { link } = await linked(async (_, frame) => {
      steps.push(`begin ${frame[0]}`);
      await bed.clock.sleep(1_000);
      steps.push(`end ${frame[0]}`);
    });
    await Promise.all([link.send(Uint8Array.of(1)), link.send(Uint8Array.of(2))]);
    await bed.clock.advance(3_000);
    expect(steps).toEqual(["begin 1", "end 1", "begin 2", "end 2"]);
  });

  it("stays up while a handler takes a minute for one frame", async () => {
    const { link, sender, receiver } = await linked(() => bed.clock.sleep(60_000));
    await link.send(Uint8Array.of(1));
    await bed.clock.advance(70_000);
    expect([sender.handled.history, receiver.handled.history]).toEqual([["up"], ["up"]]);
  });

  it("is closed when its handler fails on a frame, with the stack in the log, and not made again in a hot loop", async () => {
    const { link, sender, receiver } = await linked(() => {
      throw new Error("not a message");
    });
    await link.send(Uint8Array.of(1));
    await bed.clock.advance(100);
    expect([downs(receiver), downs(sender)]).toEqual([["RefusedFrame"], ["RefusedFrame"]]);
    const failures = receiver.lines.filter(({ message }) => message === "link handler failed");
    expect(failures[0]?.fields.stack).toContain("not a message");
    await bed.clock.advance(5_000);
    expect(receiver.handled.history).toEqual(["up", "down", "up"]);
  });

  it("is closed with a word by a handler that refuses a frame", async () => {
    const { link, receiver } = await linked((to) => to.close("not a message"));
    await link.send(Uint8Array.of(1));
    await bed.clock.advance(100);
    expect(receiver.lines).toContainEqual({
      message: "link refused by its handler",
      fields: { peer: link.peer === receiver.id ? expect.any(String) : link.peer, problem: "not a message" },
    });
    await expect(link.send(Uint8Array.of(2))).rejects.toThrow("the link is closed");
  });

  it("refuses to send a frame that is too long, and stays", async () => {
    const { link, sender } = await linked();
    await expect(link.send(new Uint8Array(maxFrameBytes + 1))).rejects.toThrow(/at most 16777216 bytes/);
    await link.send(Uint8Array.of(1));
    expect(sender.handled.history).toEqual(["up"]);
  });

  it("slows a sender that waits to the pace of the receiver", async () => {
    const { link, receiver } = await linked(() => bed.clock.sleep(1_000));
    let sent = 0;
    const sending = (async () => {
      for (let index = 0; index < 20; index++) {
        await link.send(new Uint8Array(1024 * 1024));
        sent++;
      }
    })();
    await bed.clock.advance(5_500);
    expect(receiver.handled.frames.length).toBeGreaterThan(3);
    expect(sent - receiver.handled.frames.length).toBeLessThan(4);
    await bed.clock.advance(20_000);
    await sending;
  });

  it("ends when a sender that does not wait runs too far ahead", async () => {
    const { link, sender } = await linked(() => bed.clock.sleep(600_000));
    const frame = new Uint8Array(maxFrameBytes);
    const sends = Array.from({ length: 6 }, () => link.send(frame));
    const outcomes = await Promise.allSettled(sends);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(downs(sender)).toEqual(["TooSlow"]);
  });

  it("is told down once, whatever is closed how often", async () => {
    const { link, sender, receiver } = await linked();
    sender.manager.want([]);
    receiver.manager.want([]);
    link.close();
    link.close("again");
    await bed.clock.advance(1_000);
    expect([sender.handled.history, receiver.handled.history]).toEqual([
      ["up", "down"],
      ["up", "down"],
    ]);
    expect([downs(sender), downs(receiver)]).toEqual([["NotWanted"], ["PeerRefused"]]);
  });
});

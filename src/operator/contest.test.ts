import { beforeEach, describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, conn, heldAs, planOf } from "../../test/support/build.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import type { PeerChange } from "../core/diff.ts";
import { Contest } from "./contest.ts";

const [peer] = planOf(aWorld({ meshes: [aMesh(2)], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)])] }), 2).peers;
if (!peer) throw new Error("unreachable");
const change: PeerChange = { action: "update", peer, held: heldAs(peer) };

let clock: FakeClock;
let contest: Contest;
beforeEach(() => {
  clock = new FakeClock();
  contest = new Contest(clock);
});

/** Writes, and says whether it was written. */
async function isWritten(what: PeerChange = change): Promise<boolean> {
  let written = false;
  await contest.guard(conn(2), [what], async (free) => {
    written = free.length > 0;
    return [];
  });
  return written;
}

describe("a Peer that somebody keeps undoing", () => {
  it("is written three times in ten minutes, then every five minutes, and the mesh hears why", async () => {
    expect([await isWritten(), await isWritten(), await isWritten(), await isWritten()]).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const refusals = await contest.guard(conn(2), [change], async () => []);
    expect(refusals).toMatchObject([{ owners: ["kilo-system/my-mesh"], text: expect.stringContaining("Contested") }]);
    await clock.advance(300_000);
    expect([await isWritten(), await isWritten()]).toEqual([true, false]);
  });

  it("does not hold up another wish for the same Peer, nor the same in another cluster", async () => {
    for (let round = 0; round < 3; round++) await isWritten();
    expect(await isWritten({ ...change, peer: { ...peer, keepaliveSeconds: 9 } })).toBe(true);
    const refusals = await contest.guard(conn(3), [change], async () => []);
    expect(refusals).toEqual([]);
  });

  it("is not one that we took away ourselves in between", async () => {
    for (let round = 0; round < 4; round++) {
      expect(await isWritten({ action: "create", peer })).toBe(true);
      expect(await isWritten({ action: "delete", held: heldAs(peer) })).toBe(true);
      await clock.advance(40_000);
    }
  });

  it("is still one when our attempt to take it away was refused", async () => {
    for (let round = 0; round < 3; round++) await isWritten();
    const refusal = { peer: peer.name, owners: peer.owners, text: "" };
    await contest.guard(conn(2), [{ action: "delete", held: heldAs(peer) }], async () => [refusal]);
    expect(await isWritten()).toBe(false);
  });

  it("is forgiven when ten minutes were quiet", async () => {
    for (let round = 0; round < 3; round++) await isWritten();
    await clock.advance(600_000);
    expect([await isWritten(), await isWritten(), await isWritten()]).toEqual([true, true, true]);
  });
});

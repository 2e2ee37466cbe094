import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BedNode, LinkBed } from "../../../test/support/link-bed.ts";
import { deriveEndpointId, deriveSeed } from "../identity.ts";
import { framesOn } from "../transport/frames.ts";
import { type Connection, closeCodes } from "../transport/transport.ts";
import { formationOf, linkProtocol, proofOf } from "./formation.ts";
import { decodeGreeting, encodeGreeting } from "./greeting.ts";

let bed: LinkBed;
let node: BedNode;
beforeEach(async () => {
  bed = new LinkBed();
  node = await bed.start("node");
});
afterEach(() => bed.close());

const secret = new Uint8Array(32).fill(9);

/** Somebody with a key of its own who may say what it likes. */
async function stranger(): Promise<Connection> {
  const seed = deriveSeed(secret, "stranger");
  const transport = await bed.network.listen({ seed, address: "10.66.0.1:1", protocol: linkProtocol });
  const dialing = transport.dial({ id: node.id, addresses: [node.transport.address] }, 1_000);
  await bed.clock.advance(100);
  return dialing;
}

async function closingOf(connection: Connection, withinMs: number): Promise<unknown> {
  await bed.clock.advance(withinMs);
  return Promise.race([connection.closed, "open"]);
}

const isUntouched = () => {
  expect(node.handled.history).toEqual([]);
  expect(node.manager.links()).toEqual([]);
};

describe.each([
  ["another shared key", { sharedKey: secret }],
  ["another formation id", { formationId: "other" }],
  ["no shared key", { sharedKey: new Uint8Array() }],
])("a peer with %s", (_, options) => {
  it("is never linked, named once in both logs, and tried again only seldom", async () => {
    const other = await bed.start("other", options);
    node.manager.want([other.peer()]);
    other.manager.want([node.peer()]);
    await bed.clock.advance(10 * 60_000);
    for (const one of [node, other]) {
      expect(one.handled.history).toEqual([]);
      const dials = one.events.filter(({ kind }) => kind === "dialed");
      expect(dials.length).toBeGreaterThan(2);
      expect(dials.length).toBeLessThanOrEqual(10);
      expect(one.lines.map(({ message, fields }) => [message, fields.reason]).sort()).toEqual([
        ["inbound connection refused", "FormationNotProven"],
        ["peer not linked", "FormationNotProven"],
      ]);
    }
  });
});

describe("an open formation", () => {
  it("links everybody without a shared key who names the same formation", async () => {
    const open = { sharedKey: new Uint8Array() };
    const [one, other] = [await bed.start("one", open), await bed.start("other", open)];
    one.manager.want([other.peer()]);
    await bed.clock.advance(1_000);
    expect(one.manager.links()).toHaveLength(1);
  });
});

describe("a stranger", () => {
  it("who says nothing is sent away", async () => {
    const connection = await stranger();
    expect(await closingOf(connection, 4_000)).toBe("open");
    expect(await closingOf(connection, 2_000)).toEqual({ by: "peer", code: closeCodes.silent });
    isUntouched();
  });

  it.each<[string, Uint8Array]>([
    ["nothing but noise", Uint8Array.of(0, 0, 0, 3, 1, 2, 3)],
    ["a frame without end", Uint8Array.of(0xff, 0xff, 0xff, 0xff)],
    ["an empty frame", Uint8Array.of(0, 0, 0, 0)],
    ["a proof before the greeting", Uint8Array.of(0, 0, 0, 49, 3, ...new Uint8Array(48))],
  ])("who sends %s is sent away", async (_, bytes) => {
    const connection = await stranger();
    await (await connection.openStream()).write(bytes);
    expect(await closingOf(connection, 100)).toEqual({ by: "peer", code: closeCodes.badProtocol });
    isUntouched();
  });

  it("who guesses a proof gets none of ours", async () => {
    const connection = await stranger();
    const control = framesOn(await connection.openStream());
    await control.send(encodeGreeting({ kind: "hello", nonce: randomBytes(32) }));
    await bed.clock.advance(100);
    await control.receive(100);
    await control.send(encodeGreeting({ kind: "dialer", proof: randomBytes(32), held: undefined }));
    const answer = control.receive(100).catch(() => "none");
    expect(await closingOf(connection, 100)).toEqual({ by: "peer", code: closeCodes.formationNotProven });
    expect(await answer).toBe("none");
    isUntouched();
  });

  it("who has the key, but stops in the middle, holds nothing up", async () => {
    const connection = await stranger();
    const formation = formationOf("formation", new Uint8Array(32).fill(7));
    const control = framesOn(await connection.openStream());
    const dialerNonce = randomBytes(32);
    await control.send(encodeGreeting({ kind: "hello", nonce: dialerNonce }));
    await bed.clock.advance(100);
    const challenge = decodeGreeting("challenge", (await control.receive(100)) ?? new Uint8Array());
    const transcript = {
      dialer: deriveEndpointId(secret, "stranger"),
      acceptor: node.id,
      dialerNonce,
      acceptorNonce: challenge?.nonce ?? new Uint8Array(),
    };
    const proof = proofOf(formation, "dialer", transcript);
    await control.send(encodeGreeting({ kind: "dialer", proof, held: undefined }));
    expect(await closingOf(connection, 6_000)).toEqual({ by: "peer", code: closeCodes.silent });
    isUntouched();
  });

  it("in a crowd is sent away when too many have not proven themselves, and a peer still gets in later", async () => {
    const crowd = await Promise.all(
      Array.from({ length: 70 }, async (_, index) => {
        const seed = deriveSeed(secret, `stranger-${index}`);
        const address = `10.66.1.${index + 1}:1`;
        const transport = await bed.network.listen({ seed, address, protocol: linkProtocol });
        return transport.dial({ id: node.id, addresses: [node.transport.address] }, 1_000);
      }).map(async (dialing) => {
        await bed.clock.advance(10);
        return dialing;
      }),
    );
    await bed.clock.advance(100);
    const closings = await Promise.all(crowd.map(({ closed }) => Promise.race([closed, "open"])));
    expect(closings.filter((closing) => closing === "open")).toHaveLength(64);
    const peer = await bed.start("peer");
    peer.manager.want([node.peer()]);
    await bed.clock.advance(10_000);
    expect(peer.manager.links()).toHaveLength(1);
  });
});

import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../runtime/clock.ts";
import type { EndpointId } from "../identity.ts";
import { endpointIdOf } from "../identity.ts";
import { FrameError, framesOn } from "./frames.ts";
import { listenIroh } from "./iroh.ts";
import { MemoryNetwork } from "./memory.ts";
import { type Connection, closeCodes, type ListenOptions, type Transport } from "./transport.ts";

type Listen = (options: ListenOptions) => Promise<Transport>;

const kinds: [string, () => Listen][] = [
  ["memory", () => memoryListen()],
  ["iroh", () => listenIroh],
];

function memoryListen(): Listen {
  const network = new MemoryNetwork({ clock: systemClock });
  return (options) => network.listen(options);
}

const seedOf = (text: string): Uint8Array => new Uint8Array(32).fill(text.charCodeAt(0));
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const bytes = (from: string): Uint8Array => Buffer.from(from);

describe.each(kinds)("the %s transport", (_, newListen) => {
  const open: Transport[] = [];
  let listenOn: Listen | undefined;

  async function listen(name: string, overrides: Partial<ListenOptions> = {}): Promise<Transport> {
    listenOn ??= newListen();
    const transport = await listenOn({ seed: seedOf(name), address: "127.0.0.1:0", protocol: "test/1", ...overrides });
    open.push(transport);
    return transport;
  }

  async function connected(): Promise<{ near: Connection; far: Connection; a: Transport; b: Transport }> {
    const a = await listen("a");
    const b = await listen("b");
    const near = await a.dial({ id: b.id, addresses: [b.address] }, 5_000);
    const far = (await b.accept()) as Connection;
    return { near, far, a, b };
  }

  afterEach(async () => {
    await Promise.all(open.splice(0).map((transport) => transport.close()));
    listenOn = undefined;
  });

  it("has the id of its seed and a real port", async () => {
    const a = await listen("a");
    expect(a.id).toBe(endpointIdOf(seedOf("a")));
    expect(a.address).toMatch(/^127\.0\.0\.1:[1-9]\d+$/);
  });

  it("proves to both sides who the other is", async () => {
    const { near, far, a, b } = await connected();
    expect([near.remote, far.remote]).toEqual([b.id, a.id]);
    expect(near.address()).toBe(b.address);
  });

  it("refuses a port that is in use", async () => {
    const a = await listen("a");
    await expect(listen("b", { address: a.address })).rejects.toThrow(/cannot listen .*in use/);
  });

  it("does not connect to somebody with another key", async () => {
    const a = await listen("a");
    const b = await listen("b");
    const id = endpointIdOf(seedOf("c"));
    await expect(a.dial({ id, addresses: [b.address] }, 5_000)).rejects.toMatchObject({ failure: "OtherIdentity" });
  });

  it("does not connect to somebody who speaks another protocol", async () => {
    const a = await listen("a");
    const b = await listen("b", { protocol: "test/2" });
    const dialing = a.dial({ id: b.id, addresses: [b.address] }, 5_000);
    await expect(dialing).rejects.toMatchObject({ failure: "OtherProtocol" });
  });

  it("does not dial itself, nobody, or nowhere", async () => {
    const a = await listen("a");
    const id = endpointIdOf(seedOf("c"));
    await expect(a.dial({ id: a.id, addresses: [a.address] }, 500)).rejects.toMatchObject({ failure: "IsSelf" });
    await expect(a.dial({ id, addresses: [] }, 500)).rejects.toMatchObject({ failure: "NoAddress" });
    await expect(a.dial({ id, addresses: ["127.0.0.1:9"] }, 300)).rejects.toMatchObject({ failure: "DialTimeout" });
  });

  it("tries every address it was given", async () => {
    const a = await listen("a");
    const b = await listen("b");
    const near = await a.dial({ id: b.id, addresses: ["127.0.0.1:9", b.address] }, 5_000);
    expect(near.remote).toBe(b.id);
  });

  it("carries bytes both ways, in the order of the writes", async () => {
    const { near, far } = await connected();
    const out = await near.openStream();
    const words = Array.from({ length: 200 }, (_, index) => `${index};`);
    const writes = words.map((word) => out.write(bytes(word)));
    const into = await far.acceptStream();
    let heard = "";
    while (heard.length < words.join("").length) heard += text(await into.read(1_000));
    expect(heard).toBe(words.join(""));
    await Promise.all(writes);
    await into.write(bytes("back"));
    expect(text(await out.read(2))).toBe("ba");
    expect(text(await out.read(10))).toBe("ck");
  });

  it("keeps large frames whole and in order among small ones", async () => {
    const { near, far } = await connected();
    const out = framesOn(await near.openStream());
    const large = new Uint8Array(3_000_000).map((_, index) => index % 251);
    const sending = [out.send(bytes("first")), out.send(large), out.send(new Uint8Array()), out.send(bytes("last"))];
    const into = framesOn(await far.acceptStream());
    expect(text(await into.receive(10))).toBe("first");
    expect(Buffer.compare((await into.receive(3_000_000)) ?? new Uint8Array(), large)).toBe(0);
    expect(await into.receive(10)).toEqual(new Uint8Array());
    expect(text(await into.receive(10))).toBe("last");
    await Promise.all(sending);
  });

  it("refuses a frame that is longer than allowed before it arrives", async () => {
    const { near, far } = await connected();
    const out = await near.openStream();
    await out.write(Uint8Array.of(0xff, 0xff, 0xff, 0xff));
    await expect(framesOn(await far.acceptStream()).receive(1_000)).rejects.toThrow(FrameError);
  });

  it("makes a writer wait for a reader that does not read", async () => {
    const { near } = await connected();
    const out = await near.openStream();
    let written = 0;
    const piece = new Uint8Array(256 * 1024);
    const writing = (async () => {
      for (let index = 0; index < 40; index++) {
        await out.write(piece);
        written++;
      }
    })().catch(() => undefined);
    await systemClock.sleep(700);
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(40);
    near.close(closeCodes.leaving);
    await writing;
  });

  it("tells the other side the code of a close, and fails what waits", async () => {
    const { near, far } = await connected();
    const out = await near.openStream();
    await out.write(bytes("x"));
    await far.acceptStream();
    const waiting = Promise.allSettled([out.read(10), near.acceptStream()]);
    far.close(closeCodes.superseded);
    expect(await waiting).toMatchObject(Array(2).fill({ status: "rejected", reason: { failure: "ConnectionLost" } }));
    expect(await near.closed).toEqual({ by: "peer", code: closeCodes.superseded });
    expect(await far.closed).toEqual({ by: "us" });
    await expect(out.write(bytes("y"))).rejects.toMatchObject({ failure: "ConnectionLost" });
    await expect(near.openStream()).rejects.toMatchObject({ failure: "ConnectionLost" });
  });

  it("says goodbye on every connection when it is closed, and accepts no more", async () => {
    const { near, b, a } = await connected();
    const accepting = b.accept();
    await b.close();
    expect(await accepting).toBeUndefined();
    expect(await b.accept()).toBeUndefined();
    expect(await near.closed).toEqual({ by: "peer", code: closeCodes.leaving });
    const dialing = b.dial({ id: a.id, addresses: [a.address] }, 1_000);
    await expect(dialing).rejects.toMatchObject({ failure: "TransportClosed" });
  });

  it("gives two connections to two that dial each other", async () => {
    const a = await listen("a");
    const b = await listen("b");
    const dials = [
      a.dial({ id: b.id, addresses: [b.address] }, 5_000),
      b.dial({ id: a.id, addresses: [a.address] }, 5_000),
    ];
    const ends = await Promise.all([...dials, a.accept(), b.accept()]);
    expect(ends.map((end) => end?.remote)).toEqual([b.id, a.id, b.id, a.id] satisfies EndpointId[]);
  });
});

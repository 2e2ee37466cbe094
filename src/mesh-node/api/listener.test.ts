import { randomBytes } from "node:crypto";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../runtime/log.ts";
import { parseListen } from "../config/config.ts";
import { type Listener, type ListenerOptions, startListener } from "./listener.ts";

const listeners: Listener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.stop(0);
});

async function listen(overrides: Partial<ListenerOptions> = {}): Promise<{ listener: Listener; port: number }> {
  const listener = await startListener({
    target: parseListen("tcp://127.0.0.1:0"),
    handle: (request, response) => void response.end(request.httpVersion),
    log: silentLogger,
    ...overrides,
  });
  listeners.push(listener);
  return { listener, port: Number(listener.address.split(":").at(-1)) };
}

/** Sends the text and then nothing; resolves with all that came when the connection was closed. */
function closedAfter(port: number, text: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const socket: Socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
    });
    socket.on("error", () => undefined).on("close", () => resolve(heard));
  });
}

function http2Version(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    session.on("error", reject);
    let body = "";
    const stream = session.request({ ":path": "/" });
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    stream.on("end", () => session.close(() => resolve(body)));
  });
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

describe("one port", () => {
  it("speaks HTTP/1.1 and HTTP/2", async () => {
    const { port } = await listen();
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe("1.1");
    expect(await http2Version(port)).toBe("2.0");
  });

  it("understands a preface that comes byte by byte", async () => {
    const { port } = await listen();
    const heard = await new Promise<Buffer>((resolve) => {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true });
      socket.once("data", (chunk) => {
        resolve(chunk);
        socket.destroy();
      });
      const bytes = Buffer.concat([Buffer.from(preface), emptySettings]);
      const send = (index: number): void => {
        socket.write(bytes.subarray(index, index + 1));
        if (index + 1 < bytes.length) setImmediate(() => send(index + 1));
      };
      socket.once("connect", () => send(0));
    });
    const settingsFrame = 4;
    expect(heard[3]).toBe(settingsFrame);
  });
});

describe("a client that talks nonsense", () => {
  it.each([
    ["from the start", ""],
    ["after the preface", preface],
    ["in its headers", "GET / HTTP/1.1\r\n"],
  ])("%s disturbs nobody else", async (_, start) => {
    const { port } = await listen({ headersWithinMs: 1_000 });
    const nonsense = Array.from({ length: 10 }, () => Buffer.concat([Buffer.from(start), randomBytes(2_000)]));
    await Promise.all(nonsense.map((bytes) => closedAfter(port, bytes)));
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe("1.1");
  });
});

describe("a client that keeps the server waiting", () => {
  it.each([
    ["says nothing at all", ""],
    ["stops in the middle of the preface", "PRI * HT"],
    ["stops in the middle of its headers", "GET / HTTP/1.1\r\nhost: x\r\n"],
  ])("and %s is cut off", async (_, text) => {
    const { port } = await listen({ headersWithinMs: 100 });
    await closedAfter(port, text);
  });

  it("and answers no ping is cut off", async () => {
    const { port } = await listen({ session: { pingEveryMs: 50, idleMs: 60_000 } });
    await closedAfter(port, Buffer.concat([Buffer.from(preface), emptySettings]));
  });

  it("and calls nothing for long is told to go", async () => {
    const { port } = await listen({ session: { pingEveryMs: 30, idleMs: 100 } });
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    await new Promise<void>((resolve) => session.on("goaway", () => resolve()));
    session.close();
  });
});

describe("a listener that stops", () => {
  it("lets a request end that is under way", async () => {
    let end: () => void = () => undefined;
    const { listener, port } = await listen({
      handle: (_, response) => {
        end = () => response.end("late");
      },
    });
    const answer = fetch(`http://127.0.0.1:${port}`).then((response) => response.text());
    await expect.poll(() => end.toString()).toContain("late");
    const stopped = listener.stop(10_000);
    end();
    expect(await answer).toBe("late");
    await stopped;
  });

  it("does not wait for ever", async () => {
    const { listener, port } = await listen({ handle: () => undefined });
    const answer = fetch(`http://127.0.0.1:${port}`);
    const failed = expect(answer).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await listener.stop(50);
    await failed;
  });
});

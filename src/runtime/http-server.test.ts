import { once } from "node:events";
import { connect, createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NotingLogger } from "../../test/support/an-informer.ts";
import { eventually } from "../../test/support/eventually.ts";
import { type HttpServer, ListenError, parseListenAddress, startHttpServer } from "./http-server.ts";

const loopback = { host: "127.0.0.1", port: 0 };
const ok = () => ({ status: 200, type: "text/plain", body: "fine\n" });

describe("an address to listen on", () => {
  it.each([
    [":8080", { host: "", port: 8080 }],
    ["127.0.0.1:8080", { host: "127.0.0.1", port: 8080 }],
    ["[::]:8080", { host: "::", port: 8080 }],
    ["localhost:0", { host: "localhost", port: 0 }],
    ["0", "off"],
  ])("%s is understood as Go understands it", (text, expected) => {
    expect(parseListenAddress(text)).toEqual(expected);
  });

  it.each(["", "8080", ":", ":80800", ":http", "::1:8080", "[::1]", "[12]:80", "a b:80", ":-1", ":08"])(
    "%j is refused, with what to give instead",
    (text) => {
      expect(() => parseListenAddress(text)).toThrow("give :PORT, HOST:PORT, [IPV6]:PORT, or 0 for none");
    },
  );
});

describe("a small server", () => {
  const log = new NotingLogger();
  let server: HttpServer;
  beforeEach(async () => {
    const routes = {
      "/fine": ok,
      "/bug": () => {
        throw new Error("oops");
      },
    };
    server = await startHttpServer({ address: loopback, routes, log });
  });
  afterEach(() => server.stop());

  const get = (path: string, method = "GET"): Promise<Response> => fetch(`http://${server.address}${path}`, { method });

  it("answers its paths, with or without a query", async () => {
    expect(await (await get("/fine?verbose")).text()).toBe("fine\n");
    expect((await get("/fine", "HEAD")).headers.get("content-length")).toBe("5");
  });

  it("knows no other path and no other method", async () => {
    expect([(await get("/")).status, (await get("/toString")).status, (await get("/fine", "POST")).status]).toEqual([
      404, 404, 405,
    ]);
  });

  it("survives a bug in an answer and tells the log alone what it was", async () => {
    const response = await get("/bug");
    expect([response.status, await response.text()]).toEqual([500, "failed\n"]);
    expect(log.of("error")).toEqual(["bug in an http answer"]);
    expect((await get("/fine")).status).toBe(200);
  });

  it("is not shut by those who hold connections and ask for nothing", async () => {
    const port = Number(server.address.split(":").at(-1));
    const held = Array.from({ length: 100 }, () => connect({ host: "127.0.0.1", port }).on("error", () => undefined));
    await Promise.all(held.map((socket) => once(socket, "connect")));
    const answered = await eventually(() => fetch(`http://${server.address}/fine`));
    expect(answered.status).toBe(200);
    for (const socket of held) socket.destroy();
  });

  it("stops at once, also while a client keeps its connection", async () => {
    const { port } = new URL(`http://${server.address}`);
    await get("/fine");
    await server.stop();
    await expect(get("/fine")).rejects.toThrow();
    const again = createServer();
    await new Promise<void>((resolve) => again.listen(Number(port), "127.0.0.1", resolve));
    await new Promise((resolve) => again.close(resolve));
  });
});

describe("a port that is taken", () => {
  it("is an error that names the address and the cause", async () => {
    const first = await startHttpServer({ address: loopback, routes: {}, log: new NotingLogger() });
    const port = Number(new URL(`http://${first.address}`).port);
    const second = startHttpServer({ address: { ...loopback, port }, routes: {}, log: new NotingLogger() });
    await expect(second).rejects.toThrow(ListenError);
    await expect(second).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: the port is in use`);
    await first.stop();
  });
});

import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { endpointIdOf, parseEndpointId } from "../identity.ts";
import { listenIroh } from "./iroh.ts";
import { parseClosing } from "./iroh-connection.ts";
import { dialFailure, plainCause } from "./iroh-errors.ts";
import type { Transport } from "./transport.ts";

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === "::1"),
);

const withBacktrace = `ConnectError::Connecting (/build/iroh/src/endpoint.rs:1060:20)
Caused by:
    ConnectingError::ConnectionError (/build/core/src/poll.rs:258:39)
    the cryptographic handshake failed: error 48: invalid peer certificate: UnknownIssuer

Stack backtrace:
   0: timed out somewhere
`;

describe("the errors of iroh", () => {
  it.each([
    [withBacktrace, "OtherIdentity"],
    ["the cryptographic handshake failed: error 48: invalid peer certificate: UnknownIssuer", "OtherIdentity"],
    ["aborted by peer: error 120: peer doesn't support any known protocol", "OtherProtocol"],
    ["timed out", "DialTimeout"],
    ["Endpoint is closed", "TransportClosed"],
    ["something new", "Unreachable"],
  ])("are told apart by their text", (message, failure) => {
    expect(dialFailure(new Error(message)).failure).toBe(failure);
  });

  it("become one line without backtrace and source positions", () => {
    expect(plainCause(new Error(withBacktrace))).toBe(
      "the cryptographic handshake failed: error 48: invalid peer certificate: UnknownIssuer",
    );
    expect(plainCause(new Error("Failed to bind sockets (/x/y.rs:9:2)"))).toBe("Failed to bind sockets");
    expect(plainCause("")).toBe("the connection failed");
  });
});

describe("how a connection ended", () => {
  it.each([
    ["closed", { by: "us" }],
    ["closed by peer: 5", { by: "peer", code: 5 }],
    ["closed by peer: why (code 7)", { by: "peer", code: 7 }],
    ["closed by peer: (code 1)\n of many (code 3)", { by: "peer", code: 3 }],
    ["timed out", { by: "lost", detail: "timed out" }],
  ])("is read from %j", (sentence, closing) => {
    expect(parseClosing(sentence)).toEqual(closing);
  });
});

describe("an iroh endpoint", () => {
  const open: Transport[] = [];
  const listen = async (fill = 1, address = "127.0.0.1:0"): Promise<Transport> => {
    const transport = await listenIroh({ seed: new Uint8Array(32).fill(fill), address, protocol: "test/1" });
    open.push(transport);
    return transport;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((transport) => transport.close()));
  });

  it("does not hand host names and bad ports to the library", async () => {
    const id = endpointIdOf(new Uint8Array(32).fill(2));
    const addresses = ["localhost:1", "127.0.0.1:0", "127.0.0.1:70000", "127.0.0.1", "::1:5", "[127.0.0.1]:5"];
    await expect((await listen()).dial({ id, addresses }, 500)).rejects.toMatchObject({ failure: "NoAddress" });
  });

  it("says that 64 digits which are no key are no identity", async () => {
    const id = parseEndpointId(`02${"00".repeat(31)}`);
    if (!id) throw new Error("64 digits are an id");
    const dialing = (await listen()).dial({ id, addresses: ["127.0.0.1:9"] }, 500);
    await expect(dialing).rejects.toMatchObject({ failure: "InvalidIdentity" });
  });

  it.skipIf(!hasIpv6)("is reached in both families on one port when it listens everywhere", async () => {
    const port = await freeUdpPort();
    const everywhere = await listen(2, `0.0.0.0:${port}`);
    expect(everywhere.address).toBe(`0.0.0.0:${port}`);
    for (const [fill, host] of [
      [4, "127.0.0.1"],
      [5, "[::1]"],
    ] as const) {
      const dialer = await listen(fill);
      const connection = await dialer.dial({ id: everywhere.id, addresses: [`${host}:${port}`] }, 5_000);
      expect(connection.remote).toBe(everywhere.id);
    }
  });

  it.skipIf(!hasIpv6)("names the port of the family it was asked for", async () => {
    expect((await listen(1, "[::1]:0")).address).toMatch(/^\[::1\]:\d+$/);
  });

  it("names an address it cannot listen on", async () => {
    const options = { seed: new Uint8Array(32).fill(1), address: "300.1.1.1:1", protocol: "test/1" };
    await expect(listenIroh(options)).rejects.toThrow(
      "cannot listen on UDP 300.1.1.1:1: invalid socket address syntax",
    );
  });

  it("loads without a warning, and a process that closed it ends by itself", () => {
    const program = `
      const { listenIroh } = await import("./src/mesh-node/transport/iroh.ts");
      const t = await listenIroh({ seed: new Uint8Array(32).fill(1), address: "127.0.0.1:0", protocol: "test/1" });
      t.accept();
      await t.close();`;
    const run = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect([run.status, run.stderr]).toEqual([0, ""]);
  });
});

async function freeUdpPort(): Promise<number> {
  const socket = createSocket("udp6").bind(0);
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  await once(socket, "close");
  return port;
}

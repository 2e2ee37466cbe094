import { connect, createServer } from "node:net";
import type { TestCertificates } from "./test-certificates.ts";
import { listen, type TestServer } from "./test-server.ts";

export interface Relay extends TestServer {
  /** From now on bytes are swallowed, as by a firewall that forgot the connection. */
  freeze(): void;
}

/** Passes the bytes of each connection on to `port` of 127.0.0.1. */
export async function startRelay(port: number, certificates: TestCertificates): Promise<Relay> {
  let isFrozen = false;
  const relay = createServer((socket) => {
    const upstream = connect(port, "127.0.0.1");
    socket.on("data", (data) => isFrozen || upstream.write(data)).on("close", () => upstream.destroy());
    upstream.on("data", (data) => isFrozen || socket.write(data)).on("close", () => socket.destroy());
    upstream.on("error", () => undefined);
  });
  const server = await listen(relay, certificates);
  const freeze = () => {
    isFrozen = true;
  };
  return { ...server, freeze };
}

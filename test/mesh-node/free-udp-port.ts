import { createSocket } from "node:dgram";

/** A UDP port of 127.0.0.1 that nobody has at this moment. */
export function freeUdpPort(): Promise<number> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    socket.bind(0, "127.0.0.1", () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });
}

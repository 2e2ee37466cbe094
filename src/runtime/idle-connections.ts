import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Whoever holds connections and asks for nothing must not shut out who asks: when a server has all that it may have, those
 * on which no request is under way are closed. Node's own way leaves those alone that have never brought one.
 */
export function closeIdleWhenFull(server: Server): void {
  const idle = new Set<Socket>();
  const rests = (socket: Socket): void => {
    if (!socket.destroyed) idle.add(socket);
  };
  server.on("connection", (socket: Socket) => {
    rests(socket);
    socket.once("close", () => idle.delete(socket));
  });
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    response.once("close", () => rests(socket));
  });
  server.on("drop", () => {
    for (const socket of idle) socket.destroy();
  });
}

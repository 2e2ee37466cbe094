import type { Socket } from "node:net";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/**
 * Whether the client begins with HTTP/2's preface. What was read is put back, so that a server can take the socket as if
 * it were new. Rejects when the client goes away or has not decided in time.
 */
export function speaksHttp2(socket: Socket, withinMs: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const timer = setTimeout(() => fail(), withinMs);
    const look = (): void => {
      const chunk: Buffer | null = socket.read();
      if (chunk) read = Buffer.concat([read, chunk]);
      const verdict = verdictOn(read);
      if (verdict === undefined) return;
      settle();
      socket.unshift(read);
      resolve(verdict);
    };
    const fail = (): void => {
      settle();
      reject(new Error("the client said nothing"));
    };
    const settle = (): void => {
      clearTimeout(timer);
      socket.off("readable", look);
      for (const event of ["error", "end", "close"]) socket.off(event, fail);
    };
    socket.on("readable", look);
    for (const event of ["error", "end", "close"]) socket.on(event, fail);
  });
}

/** `undefined` while it may still become either. */
function verdictOn(read: Buffer): boolean | undefined {
  const length = Math.min(read.length, preface.length);
  if (!read.subarray(0, length).equals(preface.subarray(0, length))) return false;
  return length === preface.length ? true : undefined;
}

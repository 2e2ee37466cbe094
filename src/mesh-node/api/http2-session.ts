import type { ServerHttp2Session } from "node:http2";

export interface SessionLimits {
  /** A session is asked so often whether its client is still there. */
  readonly pingEveryMs: number;
  /** A session without any call is closed after so long. */
  readonly idleMs: number;
}

export const usualSession: SessionLimits = { pingEveryMs: 30_000, idleMs: 300_000 };

/** Ends a session whose client is gone or has not called for long. A client that misses one ping is gone. */
export function guardSession(session: ServerHttp2Session, { pingEveryMs, idleMs }: SessionLimits): void {
  let openCalls = 0;
  let idleSinceMs = performance.now();
  let isAnswered = true;
  session.on("stream", (stream) => {
    openCalls++;
    stream.once("close", () => {
      openCalls--;
      idleSinceMs = performance.now();
    });
  });
  const timer = setInterval(() => {
    if (!isAnswered) return session.destroy();
    if (openCalls === 0 && performance.now() - idleSinceMs > idleMs) return session.close();
    isAnswered = false;
    const isSent = session.ping((failure) => {
      isAnswered = failure === null;
    });
    if (!isSent) session.destroy();
  }, pingEveryMs);
  timer.unref();
  session.once("close", () => clearInterval(timer));
  session.on("error", () => session.destroy());
}

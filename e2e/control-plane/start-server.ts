import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { type Order, type Supervised, startSupervised } from "./supervised.ts";

export interface Server {
  readonly process: Supervised;
  readonly port: number;
}

/** A server that listens on a port: how to run it there, and how to see that it answers. */
export interface ServerPlan {
  readonly address: string;
  order(port: number): Promise<Order>;
  isReady(port: number): Promise<boolean>;
}

const readyWithinMs = 60_000;
const pollMs = 50;
const attempts = 5;

/** Starts the server on a free port, or on the one given, and waits until it is ready. A taken port is tried again. */
export async function startServer(plan: ServerPlan, port?: number): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    const chosen = port ?? (await freePort(plan.address));
    const order = await plan.order(chosen);
    const process = await startSupervised(order);
    const problem = await problemUntilReady(process, () => plan.isReady(chosen));
    if (!problem) return { process, port: chosen };
    await process.kill();
    if (!problem.includes("address already in use") || attempt === attempts) {
      throw new Error(`${order.command} on port ${chosen}: ${problem}`);
    }
    await sleep(pollMs * 4);
  }
}

async function problemUntilReady(process: Supervised, isReady: () => Promise<boolean>): Promise<string | undefined> {
  const deadline = Date.now() + readyWithinMs;
  while (Date.now() < deadline) {
    if (!process.running) return `ended before it was ready\n${await process.logTail()}`;
    if (await isReady()) return undefined;
    await sleep(pollMs);
  }
  return `not ready after ${readyWithinMs / 1000} s\n${await process.logTail()}`;
}

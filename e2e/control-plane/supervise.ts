// A process that lives only as long as its parent: `node supervise.ts '<Order as JSON>'`.
// It ends its child when stdin closes, which the kernel does even when the parent was killed with SIGKILL.
// stdout: the child's pid on the first line. stdin: "kill" ends the child at once instead of asking first.
import { spawn } from "node:child_process";
import { openSync, rmSync } from "node:fs";
import type { Order } from "./supervised.ts";

const order = JSON.parse(process.argv[2] ?? "") as Order;
const log = openSync(order.logFile, "a");
const child = spawn(order.command, order.args, {
  cwd: order.cwd,
  env: { ...process.env, ...order.env },
  stdio: ["ignore", log, log],
  detached: true,
});

/** The whole process group, so that what the child started ends with it. */
function signal(name: NodeJS.Signals): void {
  try {
    if (child.pid) process.kill(-child.pid, name);
  } catch {
    // The group is gone already.
  }
}

let asked = false;

function end(): void {
  asked = true;
  signal("SIGTERM");
  // A paused process gets no SIGTERM before it goes on.
  signal("SIGCONT");
  setTimeout(() => signal("SIGKILL"), order.graceMs);
}

function leave(code: number): never {
  signal("SIGKILL");
  // A child that ended by itself leaves its log for the parent to read.
  if (asked && order.removeAtEnd)
    rmSync(order.removeAtEnd, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  process.exit(code);
}

child.on("error", () => leave(127));
child.on("exit", (code) => leave(code ?? 1));
process.stdout.on("error", () => {});
process.stdin.on("data", () => {
  asked = true;
  signal("SIGKILL");
});
process.stdin.on("error", end);
process.stdin.on("close", end);
for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(name, end);
if (child.pid) process.stdout.write(`${child.pid}\n`);

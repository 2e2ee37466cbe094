import { type ChildProcessByStdio, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** What the supervisor shall run. */
export interface Order {
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** How long the child may take to end by itself before it is killed. */
  readonly graceMs: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A folder that is removed when the child was stopped, even when that is because this process was killed. */
  readonly removeAtEnd?: string;
}

type Supervisor = ChildProcessByStdio<Writable, Readable, null>;

/** A child process that ends with this process, however this process ends. */
export class Supervised {
  /** The process itself, not its supervisor: signals to it reach the program. */
  readonly pid: number;
  /** Resolves when the program is gone. */
  readonly ended: Promise<void>;
  readonly #supervisor: Supervisor;
  readonly #logFile: string;
  #running = true;

  constructor(supervisor: Supervisor, pid: number, logFile: string) {
    this.pid = pid;
    this.#supervisor = supervisor;
    this.#logFile = logFile;
    this.ended = endOf(supervisor).then(() => {
      this.#running = false;
    });
  }

  get running(): boolean {
    return this.#running;
  }

  /** Asks the program to end, kills it after the grace time, and resolves when it is gone. */
  async stop(): Promise<void> {
    this.#supervisor.stdin.end();
    await this.ended;
  }

  /** Ends the program at once, as a power cut would, and resolves when it is gone. */
  async kill(): Promise<void> {
    this.#supervisor.stdin.end("kill\n");
    await this.ended;
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    process.kill(this.pid, name);
  }

  /** The end of what the program has written. */
  async logTail(lines = 20): Promise<string> {
    return tailOf(this.#logFile, lines);
  }
}

/** Starts a program under a supervisor; its output goes to the log file, which is emptied first. */
export async function startSupervised(order: Order): Promise<Supervised> {
  await writeFile(order.logFile, "");
  const program = join(import.meta.dirname, "supervise.ts");
  const supervisor = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", program, JSON.stringify(order)],
    {
      // Out of our process group, so that Ctrl-C in a terminal leaves the supervisor alive to clean up.
      detached: true,
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, NODE_OPTIONS: "" },
    },
  );
  supervisor.stdin.on("error", () => {});
  const pid = await firstLine(supervisor);
  if (pid) return new Supervised(supervisor, Number(pid), order.logFile);
  throw new Error(`${order.command} did not start\n${await tailOf(order.logFile, 20)}`);
}

async function firstLine(supervisor: Supervisor): Promise<string | undefined> {
  const lines = createInterface({ input: supervisor.stdout });
  const line = await new Promise<string | undefined>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(undefined));
  });
  supervisor.stdout.resume();
  return line;
}

function endOf(supervisor: Supervisor): Promise<void> {
  if (supervisor.exitCode !== null || supervisor.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => supervisor.once("exit", () => resolve()));
}

async function tailOf(file: string, lines: number): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}

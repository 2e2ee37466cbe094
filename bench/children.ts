import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

interface Message {
  readonly kind: string;
}

/** A process of a benchmark, spoken to in messages. */
export interface Child {
  send<M extends Message>(message: M): void;
  /** The next message of this kind; fails when the process ends first. */
  next<M extends Message>(kind: M["kind"]): Promise<M>;
  /** Fails when the process ends. */
  readonly ended: Promise<never>;
  /** Ends the process, which leaves by itself when it is disconnected, and waits until it is gone. */
  stop(): Promise<void>;
}

const stopWithinMs = 5_000;

/** The processes of a benchmark: whatever happens, none of them stays behind. */
export class Children {
  readonly #running = new Set<ChildProcess>();

  /** Starts a file of this folder with `options`, with a garbage collector that can be called. */
  start(file: string, options: object): Child {
    const path = fileURLToPath(new URL(file, import.meta.url));
    const child = fork(path, [JSON.stringify(options)], {
      // Node's own TypeScript loader is 4 MB of source that V8 forgets now or later: kept, it is in every heap figure.
      execArgv: ["--expose-gc", "--no-flush-bytecode", ...profiling()],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#running.add(child);
    child.once("exit", () => this.#running.delete(child));
    return asChild(child, file);
  }

  stopAll(): void {
    for (const child of this.#running) child.kill("SIGKILL");
  }
}

/** `BENCH_PROFILE=DIR` writes a CPU profile of every process there. */
function profiling(): string[] {
  const dir = process.env.BENCH_PROFILE;
  return dir ? ["--cpu-prof", `--cpu-prof-dir=${dir}`] : [];
}

function asChild(child: ChildProcess, name: string): Child {
  const waiting = new Map<string, PromiseWithResolvers<Message>>();
  const early = new Map<string, Message>();
  const ending = Promise.withResolvers<never>();
  ending.promise.catch(() => undefined);
  child.once("exit", (code, signal) => ending.reject(new Error(`${name} ended with ${signal ?? `code ${code}`}`)));
  child.on("message", (message: Message) => {
    const waiter = waiting.get(message.kind);
    waiting.delete(message.kind);
    if (waiter) waiter.resolve(message);
    else early.set(message.kind, message);
  });
  return {
    ended: ending.promise,
    send: (message) => void child.send(message),
    next: async <M extends Message>(kind: M["kind"]) => {
      const known = early.get(kind);
      early.delete(kind);
      if (known) return known as M;
      const waiter = Promise.withResolvers<Message>();
      waiting.set(kind, waiter);
      return (await Promise.race([waiter.promise, ending.promise])) as M;
    },
    stop: async () => {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill("SIGKILL"), stopWithinMs);
      await ending.promise.catch(() => undefined);
      clearTimeout(timer);
    },
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { eventually } from "../support/eventually.ts";

type Json = Readonly<Record<string, unknown>>;

/** A mesh node in a process of its own, as a person starts it. */
export interface NodeProcess {
  readonly endpointId: string;
  /** `host:port` of its API. */
  readonly api: string;
  /** `ip:port` where peers dial it. */
  readonly udp: string;
  readonly pid: number;
  /** Calls the API with JSON. Rejects with what it answers instead. */
  call(method: string, request?: Json): Promise<Json>;
  get(path: string): Promise<{ readonly status: number; readonly body: string }>;
  lines(): readonly Json[];
  /** Resolves with the exit code. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
}

export interface NodeProcessOptions {
  readonly flags: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What to run instead of the sources. */
  readonly program?: readonly [string, ...string[]];
}

/** Starts one on 127.0.0.1 with free ports, and waits until it says that it runs. */
export async function startNodeProcess({ flags, env = {}, program }: NodeProcessOptions): Promise<NodeProcess> {
  const [command, ...words] = program ?? [process.execPath, "src/bin/mesh-node.ts"];
  const local = ["--listen", "tcp://127.0.0.1:0", "--iroh-udp-host", "127.0.0.1"];
  const child = spawn(command, [...words, ...local, ...flags], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env.PATH ?? "", ...env },
  });
  const lines = linesOf(child);
  const running = await saysThatItRuns(child, lines);
  const api = running.api.slice("tcp://".length);
  return {
    endpointId: running.endpointId,
    api,
    udp: running.udp,
    pid: child.pid ?? 0,
    call: (method, request = {}) => call(api, method, request),
    get: async (path) => {
      const response = await fetch(`http://${api}${path}`);
      return { status: response.status, body: await response.text() };
    },
    lines: () => lines,
    end: (signal) => end(child, signal),
  };
}

interface Running {
  readonly endpointId: string;
  readonly api: string;
  readonly udp: string;
}

/** Rejects with its last words when it ends instead. */
async function saysThatItRuns(child: ChildProcess, lines: readonly Json[]): Promise<Running> {
  const ended = once(child, "close");
  const lastWords = () => new Error(`code ${child.exitCode}; it said ${JSON.stringify(lines.slice(-5))}`);
  const running = eventually(() => {
    const found = lines.find(({ msg }) => msg === "mesh node running");
    if (!found) throw lastWords();
    return found as unknown as Running;
  });
  const failed = ended.then(() => Promise.reject(lastWords()));
  failed.catch(() => undefined);
  running.catch(() => undefined);
  try {
    return await Promise.race([running, failed]);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

function linesOf(child: ChildProcess): Json[] {
  const lines: Json[] = [];
  let rest = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) lines.push(part.startsWith("{") ? (JSON.parse(part) as Json) : { msg: part });
  });
  return lines;
}

async function call(api: string, method: string, request: Json): Promise<Json> {
  const response = await fetch(`http://${api}/peat.sidecar.v1.PeatSidecar/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  const body = (await response.json()) as Json;
  if (response.status !== 200) throw new Error(`${method}: ${body.code}: ${body.message}`);
  return body;
}

async function end(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, "exit");
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  return code;
}

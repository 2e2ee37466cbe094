import { once } from "node:events";
import { type ClientHttp2Stream, connect } from "node:http2";
import { request } from "node:https";
import { gunzipSync } from "node:zlib";
import type { SandboxCluster } from "../../src/sandbox/sandbox.ts";

/** A Kubernetes object or Status, loose enough for assertions. */
export interface RawBody {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly items?: readonly RawBody[];
  readonly reason?: string;
  readonly code?: number;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field: string }[]; readonly retryAfterSeconds?: number };
  readonly [field: string]: unknown;
}

export interface RawAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: RawBody;
}

export interface RawRequest {
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One HTTPS request over HTTP/1.1, with nothing hidden. Rejects when the connection breaks. */
export async function call(cluster: SandboxCluster, line: string, options: RawRequest = {}): Promise<RawAnswer> {
  const [method = "GET", path = "/"] = line.split(" ");
  const text = typeof options.body === "string" ? options.body : JSON.stringify(options.body);
  const headers = {
    accept: "application/json",
    authorization: `Bearer ${options.token ?? cluster.adminToken}`,
    ...(text !== undefined && {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(text)),
    }),
    ...options.headers,
  };
  const sent = request(`${cluster.url}${path}`, { method, headers, ca: cluster.caPem, agent: false });
  sent.end(text);
  const [answer] = await once(sent, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  const plain = (answer.headers["content-encoding"] === "gzip" ? gunzipSync(whole) : whole).toString();
  return { code: answer.statusCode, headers: answer.headers, text: plain, body: parsed(plain) };
}

function parsed(text: string): RawBody {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

export const mergePatch = { "content-type": "application/merge-patch+json" };
export const strategicPatch = { "content-type": "application/strategic-merge-patch+json" };
export const jsonPatch = { "content-type": "application/json-patch+json" };

export interface RawEvent {
  readonly type: string;
  readonly object: RawBody;
}

/** A watch over HTTP/2, as the lines that arrive. */
export interface RawWatch {
  readonly events: RawEvent[];
  /** Lines that are no JSON. */
  readonly garbage: string[];
  readonly code: number;
  readonly state: "open" | "ended" | "broken";
  /** Waits until the events satisfy a condition; fails after 10 s. */
  until(done: (watch: RawWatch) => boolean): Promise<void>;
  pause(): void;
  resume(): void;
  close(): void;
}

export async function watch(cluster: SandboxCluster, path: string): Promise<RawWatch> {
  const session = connect(cluster.url, { ca: cluster.caPem });
  session.on("error", () => undefined);
  const stream = session.request({ ":path": path, authorization: `Bearer ${cluster.adminToken}` });
  stream.on("error", () => undefined);
  const open = track(stream, () => session.destroy());
  const [headers] = await once(stream, "response");
  return Object.assign(open, { code: Number(headers[":status"]) });
}

function track(stream: ClientHttp2Stream, close: () => void): RawWatch & { state: RawWatch["state"] } {
  let rest = "";
  const tracked = {
    events: [] as RawEvent[],
    garbage: [] as string[],
    code: 0,
    state: "open" as RawWatch["state"],
    until: (done: (watch: RawWatch) => boolean) => eventually(() => done(tracked)),
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    close,
  };
  const read = (line: string): void => {
    try {
      tracked.events.push(JSON.parse(line));
    } catch {
      tracked.garbage.push(line);
    }
  };
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(read);
  });
  stream.on("end", () => {
    tracked.state = stream.rstCode === 0 ? "ended" : "broken";
  });
  stream.on("close", () => {
    tracked.state = stream.rstCode === 0 ? "ended" : "broken";
    close();
  });
  return tracked;
}

/** Polls until the condition holds. Its ceiling only bounds a failure. */
export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error("the condition did not come true within 10 s");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

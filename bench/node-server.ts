// A Kubernetes API for benchmarks, in a process of its own: lists and watches of Nodes and Peers, serialised
// beforehand, so that it is never what a client waits for. Started by fork with its options as JSON.
import { once } from "node:events";
import { createSecureServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { createServingCertificate } from "../src/sandbox/certificates.ts";
import { type EventForm, eventForm, eventWrites } from "./node-events.ts";
import { benchNode, benchPeer, listVersion } from "./objects.ts";

export interface ServerOptions {
  readonly clusters: number;
  /** In each cluster. */
  readonly nodes: number;
  readonly peers: number;
}

/** What the server is asked. It answers `ready` once, and `stats` each time. */
export type ServerRequest =
  | { readonly kind: "reset" }
  | { readonly kind: "send"; readonly events: number }
  | { readonly kind: "stats" };

export interface ServerReady {
  readonly kind: "ready";
  readonly kubeconfigs: readonly string[];
}

/** Since the last `reset`. */
export interface ServerStats {
  readonly kind: "stats";
  readonly connections: number;
  readonly openConnections: number;
  /** Open at this moment. */
  readonly watches: number;
  readonly cpuSeconds: number;
}

interface Collection {
  readonly head: string;
  readonly items: readonly Buffer[];
  readonly watches: Set<ServerHttp2Stream>;
}

class BenchServer {
  readonly #collections: ReadonlyMap<string, Collection>;
  readonly #forms: readonly EventForm[];
  #connections = 0;
  #openConnections = 0;
  #cpuAtReset = process.cpuUsage();
  #watchOpened: PromiseWithResolvers<void> | undefined;

  constructor({ nodes, peers }: ServerOptions) {
    const nodeItems = Array.from({ length: nodes }, (_, index) => Buffer.from(JSON.stringify(benchNode(index))));
    const peerItems = Array.from({ length: peers }, (_, index) => Buffer.from(JSON.stringify(benchPeer(index))));
    this.#collections = new Map([
      ["/api/v1/nodes", collection("v1", "NodeList", nodeItems)],
      ["/apis/kilo.squat.ai/v1alpha1/peers", collection("kilo.squat.ai/v1alpha1", "PeerList", peerItems)],
    ]);
    this.#forms = nodeItems.map(eventForm);
  }

  async listen(certificate: { readonly certificatePem: string; readonly keyPem: string }): Promise<number> {
    const server = createSecureServer({ cert: certificate.certificatePem, key: certificate.keyPem });
    server.on("stream", (stream, headers) => {
      stream.on("error", () => undefined);
      this.#answer(stream, new URL(headers[":path"] ?? "/", "https://bench"));
    });
    server.on("secureConnection", (socket) => {
      this.#connections++;
      this.#openConnections++;
      socket.once("close", () => this.#openConnections--);
    });
    server.on("sessionError", () => undefined);
    server.on("tlsClientError", () => undefined);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }

  reset(): void {
    this.#connections = 0;
    this.#cpuAtReset = process.cpuUsage();
    for (const { watches } of this.#collections.values()) for (const stream of watches) stream.close();
  }

  stats(): ServerStats {
    const { user, system } = process.cpuUsage(this.#cpuAtReset);
    return {
      kind: "stats",
      connections: this.#connections,
      openConnections: this.#openConnections,
      watches: [...this.#collections.values()].reduce((sum, { watches }) => sum + watches.size, 0),
      cpuSeconds: (user + system) / 1e6,
    };
  }

  /** Sends the events to the watch of Nodes, when there is one, as fast as it takes them. */
  async send(events: number): Promise<void> {
    const watches = this.#collections.get("/api/v1/nodes")?.watches ?? new Set();
    this.#watchOpened = Promise.withResolvers();
    if (watches.size === 0) await this.#watchOpened.promise;
    const [stream] = watches;
    if (!stream) return;
    await pipeline(eventWrites(this.#forms, events), stream, { end: false });
  }

  #answer(stream: ServerHttp2Stream, url: URL): void {
    const found = this.#collections.get(url.pathname);
    if (!found) {
      refuse(stream);
      return;
    }
    stream.respond({ ":status": 200, "content-type": "application/json" });
    if (["1", "true"].includes(url.searchParams.get("watch") ?? "")) this.#watch(stream, found);
    else stream.end(page(found, url.searchParams));
  }

  #watch(stream: ServerHttp2Stream, { watches }: Collection): void {
    watches.add(stream);
    stream.once("close", () => watches.delete(stream));
    this.#watchOpened?.resolve();
  }
}

function collection(apiVersion: string, kind: string, items: readonly Buffer[]): Collection {
  return { head: `{"kind":"${kind}","apiVersion":"${apiVersion}"`, items, watches: new Set() };
}

function page({ head, items }: Collection, query: URLSearchParams): Buffer {
  const first = Number(query.get("continue") ?? 0);
  const end = Math.min(items.length, first + Number(query.get("limit") || items.length));
  const next = end < items.length ? `,"continue":"${end}"` : "";
  const comma = Buffer.from(",");
  const parts = items.slice(first, end).flatMap((item, index) => (index === 0 ? [item] : [comma, item]));
  const metadata = `"metadata":{"resourceVersion":"${listVersion}"${next}}`;
  return Buffer.concat([Buffer.from(`${head},${metadata},"items":[`), ...parts, Buffer.from("]}\n")]);
}

function refuse(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 404, "content-type": "application/json" });
  stream.end('{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}');
}

function kubeconfig(name: string, port: number, caPem: string): string {
  const ca = Buffer.from(caPem).toString("base64");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: `https://127.0.0.1:${port}`, "certificate-authority-data": ca } }],
    users: [{ name: "bench", user: { token: "bench" } }],
    contexts: [{ name, context: { cluster: name, user: "bench" } }],
    "current-context": name,
  });
}

async function serve(options: ServerOptions): Promise<void> {
  const server = new BenchServer(options);
  const certificate = await createServingCertificate("bench", new Date());
  const kubeconfigs: string[] = [];
  for (let cluster = 0; cluster < options.clusters; cluster++) {
    kubeconfigs.push(kubeconfig(`cluster-${cluster}`, await server.listen(certificate), certificate.caPem));
  }
  process.on("message", (request: ServerRequest) => {
    if (request.kind === "reset") server.reset();
    else if (request.kind === "stats") process.send?.(server.stats());
    else server.send(request.events).catch(() => undefined);
  });
  process.on("disconnect", () => process.exit());
  process.send?.({ kind: "ready", kubeconfigs } satisfies ServerReady);
}

await serve(JSON.parse(process.argv[2] ?? "{}") as ServerOptions);

import type { ServerHttp2Stream } from "node:http2";
import { nodes } from "../../src/api/kilo-node.ts";
import { peers } from "../../src/api/kilo-peer.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { apiVersionOf, collectionPath } from "../../src/kube/resource.ts";
import type { TestCertificates } from "./test-certificates.ts";
import { answerJson, type Received, startHttp2Server } from "./test-server.ts";

export interface EchoCluster {
  kubeconfig(token: string): string;
  /** The requests that it has answered, as `METHOD path`. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export interface EchoOptions {
  readonly certificates: TestCertificates;
  readonly nodes: readonly KubeObject[];
  readonly peers: readonly KubeObject[];
}

const brokenWatches = 4;

/**
 * An API server that gives back whatever it was given: it lists what it is told to, ends its first watches with an
 * error, and refuses every write, each time quoting the request's credential and body in every field that an answer has.
 */
export async function startEchoCluster({ certificates, ...held }: EchoOptions): Promise<EchoCluster> {
  const asked: string[] = [];
  let watches = 0;
  const server = await startHttp2Server(certificates, async (stream, received) => {
    asked.push(`${received.method} ${received.path}`);
    const path = received.path.replace(/\?.*/, "");
    const found = [nodes, peers].find((resource) => path === collectionPath(resource));
    if (received.method !== "GET" || !found) return answerJson(stream, refusal(received, await bodyOf(stream)), 422);
    if (received.path.includes("watch="))
      return watches++ < brokenWatches ? endWithError(stream, received) : hold(stream);
    const items = found === nodes ? held.nodes : held.peers;
    return answerJson(stream, {
      apiVersion: apiVersionOf(found),
      kind: `${found.kind}List`,
      metadata: { resourceVersion: "5" },
      items: items.map(({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, uid: `echo-${metadata.name}`, resourceVersion: "5" },
      })),
    });
  });
  const kubeconfig = (token: string): string => {
    const cluster = {
      server: `https://127.0.0.1:${server.port}`,
      "certificate-authority-data": Buffer.from(certificates.caPem).toString("base64"),
    };
    return JSON.stringify({
      clusters: [{ name: "echo", cluster }],
      users: [{ name: "echo", user: { token } }],
      contexts: [{ name: "echo", context: { cluster: "echo", user: "echo" } }],
      "current-context": "echo",
    });
  };
  return { kubeconfig, asked, close: () => server.close() };
}

/** A Status that quotes everything it got. */
function refusal({ headers, path }: Received, body: string): object {
  const quoted = `${String(headers.authorization)} ${path} ${body}`;
  return {
    kind: "Status",
    status: "Failure",
    code: 422,
    reason: quoted,
    message: quoted,
    details: { name: quoted, kind: quoted, causes: [{ reason: quoted, field: quoted, message: quoted }] },
  };
}

function endWithError(stream: ServerHttp2Stream, received: Received): void {
  stream.respond({
    ":status": 200,
    "content-type": "application/json",
    warning: String(received.headers.authorization),
  });
  stream.end(`${JSON.stringify({ type: "ERROR", object: { ...refusal(received, ""), code: 500 } })}\n`);
}

function hold(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/json" });
}

async function bodyOf(stream: ServerHttp2Stream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

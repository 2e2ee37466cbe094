import type { KubeClient } from "../../src/kube/client.ts";

const version = /"resourceVersion":"(\d+)"/g;
const longestMatch = 64;

/** Notes how far the node watches of an operator have come, so that a test can wait for it to have heard of a change. */
export class Hearing {
  readonly #heard = new Map<string, number>();
  readonly #open = new Map<string, number>();

  /** The client, with its ears watched. */
  of(server: string, client: KubeClient): KubeClient {
    return {
      ...client,
      watch: async (resource, options) => {
        const chunks = await client.watch(resource, options);
        return resource.plural === "nodes" ? this.#listen(server, chunks) : chunks;
      },
    };
  }

  /** Whether a watch of the server's nodes is open. */
  isListening(server: string): boolean {
    return (this.#open.get(server) ?? 0) > 0;
  }

  /** The newest version that a watch of the server's nodes has brought. */
  lastHeard(server: string): number {
    return this.#heard.get(server) ?? 0;
  }

  async *#listen(server: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    this.#count(server, 1);
    let tail = "";
    try {
      for await (const chunk of chunks) {
        yield chunk;
        const text = tail + Buffer.from(chunk).toString("latin1");
        for (const [, digits] of text.matchAll(version)) this.#note(server, Number(digits));
        tail = text.slice(-longestMatch);
      }
    } finally {
      this.#count(server, -1);
    }
  }

  #count(server: string, change: number): void {
    this.#open.set(server, (this.#open.get(server) ?? 0) + change);
  }

  #note(server: string, newest: number): void {
    if (newest > this.lastHeard(server)) this.#heard.set(server, newest);
  }
}

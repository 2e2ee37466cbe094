import type { KubeClient } from "../../src/kube/client.ts";
import type { ConnectionConfig } from "../../src/kube/connection-config.ts";
import { isKubeError, type KubeError } from "../../src/kube/errors.ts";
import { type ClientOptions, createClient } from "../../src/kube/http-client.ts";
import { makeCertificates, type TestCertificates } from "./test-certificates.ts";
import { type Http2TestServer, type StreamHandler, startHttp2Server } from "./test-server.ts";

export interface Setup {
  readonly config?: Partial<ConnectionConfig>;
  readonly options?: Partial<ClientOptions>;
  readonly maxConcurrentStreams?: number;
}

/** Clients and servers of one test file: all that it starts ends with `stopAll`. */
export class TestBed {
  readonly certificates: TestCertificates;
  readonly #stops: (() => unknown)[] = [];

  static async create(): Promise<TestBed> {
    return new TestBed(await makeCertificates());
  }

  constructor(certificates: TestCertificates) {
    this.certificates = certificates;
  }

  /** A client and the HTTP/2 server it talks to. */
  async pair(handle: StreamHandler, setup: Setup = {}): Promise<{ client: KubeClient; server: Http2TestServer }> {
    const { maxConcurrentStreams } = setup;
    const settings = maxConcurrentStreams === undefined ? {} : { maxConcurrentStreams };
    const server = this.stops(await startHttp2Server(this.certificates, handle, settings));
    return { client: this.client({ ...server.config, ...setup.config }, setup.options), server };
  }

  client(config: ConnectionConfig, options: Partial<ClientOptions> = {}): KubeClient {
    return this.stops(createClient(config, { cluster: "north", ...options }));
  }

  /** Has it closed with the rest. */
  stops<T extends { close(): unknown }>(thing: T): T {
    this.#stops.push(() => thing.close());
    return thing;
  }

  async stopAll(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop();
  }
}

/** The KubeError that a call ends with. */
export async function errorOf(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isKubeError(error)) throw new Error("expected a KubeError", { cause: error });
  return error;
}

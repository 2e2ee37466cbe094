import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { Logger } from "../../runtime/log.ts";
import type { ListenTarget } from "../config/config.ts";
import { PeatSidecar } from "../gen/peat/sidecar/v1/sidecar_pb.ts";
import type { NodeMetrics } from "../node-metrics.ts";
import { sidecarService } from "./api.ts";
import { callInterceptor } from "./api-errors.ts";
import type { SidecarPorts } from "./api-ports.ts";
import { startListener } from "./listener.ts";
import { pages } from "./pages.ts";

export interface HttpOptions {
  readonly listen: ListenTarget;
  readonly ports: SidecarPorts;
  readonly metrics: NodeMetrics;
  readonly log: Logger;
}

export interface HttpSide {
  readonly address: string;
  /** Ends streams, lets calls end, and then the connections. */
  stop(): Promise<void>;
}

const maxMessageBytes = 16 * 1024 * 1024;
const longestCallMs = 300_000;
const drainWithinMs = 3_000;

/** Serves the API in its three protocols, the probes and the metrics. Rejects with a `ListenError`. */
export async function startHttp({ listen, ports, metrics, log }: HttpOptions): Promise<HttpSide> {
  const ending = new AbortController();
  const handle = connectNodeAdapter({
    routes: (router) => void router.service(PeatSidecar, sidecarService(ports)),
    fallback: pages({ ports, metrics, log }),
    interceptors: [callInterceptor(log, (method, code) => metrics.called(method, code))],
    readMaxBytes: maxMessageBytes,
    writeMaxBytes: maxMessageBytes,
    maxTimeoutMs: longestCallMs,
    shutdownSignal: ending.signal,
  });
  const listener = await startListener({ target: listen, handle, log });
  const stop = (): Promise<void> => {
    ending.abort(new ConnectError("the node is shutting down", Code.Unavailable));
    return listener.stop(drainWithinMs);
  };
  return { address: listener.address, stop };
}

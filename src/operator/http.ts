import { readFileSync } from "node:fs";
import type { Clock } from "../runtime/clock.ts";
import {
  type HttpAnswer,
  type HttpServer,
  ListenError,
  type Routes,
  startHttpServer,
  type TlsFiles,
} from "../runtime/http-server.ts";
import type { Logger } from "../runtime/log.ts";
import type { MetricsServing, OperatorConfig } from "./config.ts";
import type { Telemetry } from "./telemetry.ts";

export interface HttpPorts {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface HttpSide {
  stop(): Promise<void>;
}

/** One of the operator's addresses cannot be served. The message says which flag to change. */
export class ServeError extends Error {
  override readonly name = "ServeError";
}

const lookAtFilesEveryMs = 60_000;

/** Serves probes and metrics where the config says so. */
export async function startHttp(
  { health, metrics }: Pick<OperatorConfig, "health" | "metrics">,
  ports: HttpPorts,
): Promise<HttpSide> {
  const parts: HttpSide[] = [];
  try {
    if (health !== "off") parts.push(await startHealth(health, ports));
    if (metrics !== "off") parts.push(await startMetrics(metrics, ports));
  } catch (error) {
    await stopAll(parts);
    throw error;
  }
  return { stop: () => stopAll(parts) };
}

async function stopAll(parts: readonly HttpSide[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop()));
}

const healthFlag = "--health-probe-bind-address";
const metricsFlag = "--metrics-bind-address";

async function startHealth(address: Exclude<OperatorConfig["health"], "off">, ports: HttpPorts): Promise<HttpSide> {
  const { log, telemetry } = ports;
  const routes: Routes = {
    // An event loop that is stuck answers nothing: the answer itself is the proof.
    "/healthz": () => plain(200, "ok"),
    "/readyz": () => {
      const { ready, text } = telemetry.readiness();
      return ready ? plain(200, `ready: ${text}`) : plain(503, `not ready: ${text}`);
    },
  };
  const server = await named(healthFlag, startHttpServer({ address, routes, log }));
  log.info("serving", { what: "health", address: server.address });
  return server;
}

async function startMetrics({ address, tls }: MetricsServing, ports: HttpPorts): Promise<HttpSide> {
  const { log, telemetry, clock } = ports;
  const routes: Routes = {
    "/metrics": async () => ({ status: 200, type: telemetry.contentType, body: await telemetry.text() }),
  };
  const files = tls && readTls(tls);
  const starting = startHttpServer({ address, routes, log, ...(files && { tls: files }) });
  const server = await named(metricsFlag, starting);
  log.info("serving", { what: "metrics", address: server.address, tls: files !== false });
  if (!tls || !files) return server;
  const ending = new AbortController();
  const following = followFiles({ tls, files, server, clock, log }, ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await following;
    await server.stop();
  };
  return { stop };
}

const plain = (status: number, text: string): HttpAnswer => ({
  status,
  type: "text/plain; charset=utf-8",
  body: `${text}\n`,
});

async function named(flag: string, starting: Promise<HttpServer>): Promise<HttpServer> {
  try {
    return await starting;
  } catch (error) {
    if (error instanceof ListenError)
      throw new ServeError(`${error.message}; give ${flag} another address, or 0 for none`);
    throw new ServeError("the files of --metrics-cert-path are not a PEM certificate and its key");
  }
}

type TlsPaths = Exclude<MetricsServing["tls"], false>;

function readTls({ certFile, keyFile }: TlsPaths): TlsFiles {
  return { cert: readText(certFile), key: readText(keyFile) };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new ServeError(`cannot read ${file}; see --metrics-cert-path, --metrics-cert-name and --metrics-cert-key`);
  }
}

interface Following {
  readonly tls: TlsPaths;
  readonly files: TlsFiles;
  readonly server: HttpServer;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A certificate is renewed in place. One that cannot be used leaves the last that could. */
async function followFiles({ tls, files, server, clock, log }: Following, signal: AbortSignal): Promise<void> {
  let used = files;
  while (!signal.aborted) {
    await clock.sleep(lookAtFilesEveryMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      const now = readTls(tls);
      if (now.cert === used.cert && now.key === used.key) continue;
      server.useTls(now);
      used = now;
      log.info("metrics certificate renewed");
    } catch {
      log.warn("metrics certificate not renewed", { file: tls.certFile });
    }
  }
}

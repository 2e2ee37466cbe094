import type { Logger } from "../../runtime/log.ts";
import type { NodeMetrics } from "../node-metrics.ts";
import { version } from "../version.ts";
import type { SidecarPorts } from "./api-ports.ts";
import type { Handle } from "./listener.ts";

export interface PagesOptions {
  readonly ports: SidecarPorts;
  readonly metrics: NodeMetrics;
  readonly log: Logger;
}

interface Page {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

type Routes = Readonly<Record<string, () => Page | Promise<Page>>>;

/** What GET answers besides the API: probes and metrics. */
export function pages(options: PagesOptions): Handle {
  const routes = routesOf(options);
  return (request, response) => {
    request.resume();
    void answer(request, routes, options.log).then(({ status, type = "text/plain; charset=utf-8", body }) => {
      response.statusCode = status;
      response.setHeader("content-type", type);
      response.setHeader("content-length", Buffer.byteLength(body));
      response.setHeader("cache-control", "no-store");
      response.setHeader("x-content-type-options", "nosniff");
      if (request.method === "HEAD") response.end();
      else response.end(body);
    });
  };
}

function routesOf({ ports, metrics }: PagesOptions): Routes {
  return {
    // An event loop that is stuck answers nothing: the answer itself is the proof.
    "/healthz": () => ({ status: 200, body: "ok\n" }),
    "/readyz": () => readiness(ports),
    "/metrics": async () => ({ status: 200, type: metrics.contentType, body: await metrics.text(ports, version) }),
  };
}

interface Asked {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

async function answer({ method, url = "" }: Asked, routes: Routes, log: Logger): Promise<Page> {
  const path = url.split("?", 1)[0] ?? "";
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (!route) return { status: 404, body: "not found\n" };
  if (method !== "GET" && method !== "HEAD") return { status: 405, body: "only GET\n" };
  try {
    return await route();
  } catch (error) {
    log.error("bug in an http answer", { path, stack: error instanceof Error ? error.stack : String(error) });
    return { status: 500, body: "failed\n" };
  }
}

/** A node is ready without peers: otherwise none of the first ones would ever be. */
function readiness({ phase, links }: SidecarPorts): Page {
  const now = phase();
  return now === "running"
    ? { status: 200, body: `ready: ${links().length} links\n` }
    : { status: 503, body: `not ready: ${now}\n` };
}

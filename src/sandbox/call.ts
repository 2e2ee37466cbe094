import type { Catalogue } from "./catalogue.ts";
import type { ServerRequest } from "./exchange.ts";
import type { FaultSubject } from "./faults.ts";
import type { LoggedRequest } from "./request-log.ts";
import { type ApiVerb, type ResourceRoute, routeOf, verbOf } from "./routes.ts";
import { qualified } from "./status.ts";

/** A request, understood. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  readonly userAgent: string;
  readonly token: string | undefined;
  readonly route: ResourceRoute | undefined;
  readonly verb: ApiVerb | undefined;
  /** What the client is told beside the answer. */
  readonly warnings: string[];
}

export function callOf(request: ServerRequest, catalogue: Catalogue): Call {
  const url = new URL(request.url ?? "/", "https://sandbox.invalid");
  const method = request.method ?? "GET";
  const route = routeOf(url.pathname, catalogue);
  const [, token] = /^Bearer\s+(\S+)$/i.exec(String(request.headers.authorization ?? "")) ?? [];
  return {
    method,
    path: url.pathname,
    query: url.searchParams,
    accept: request.headers.accept,
    userAgent: String(request.headers["user-agent"] ?? ""),
    token,
    route,
    verb: route && verbOf(method, route, url.searchParams),
    warnings: [],
  };
}

export function faultSubject({ route, verb, userAgent }: Call): FaultSubject {
  return {
    verb,
    resource: route ? qualified(route) : "",
    namespace: route?.namespace,
    name: route?.name,
    userAgent,
  };
}

/** The log entry of a request for objects; undefined for all others. */
export function logEntry({ route, verb, userAgent }: Call, code: number, atMs: number): LoggedRequest | undefined {
  if (!route || !verb) return undefined;
  const { subresource, namespace, name } = route;
  return {
    verb,
    resource: qualified(route),
    ...(subresource !== undefined && { subresource }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    code,
    userAgent,
    atMs,
  };
}

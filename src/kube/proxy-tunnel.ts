import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import type { ConnectionConfig } from "./connection-config.ts";
import { asTransportError } from "./failure-words.ts";
import { TransportError } from "./transport.ts";

export interface TunnelOptions {
  readonly signal: AbortSignal;
  readonly lookup: LookupFunction;
}

/** A connection to the server through the config's proxy, by HTTP CONNECT. */
export function openTunnel(config: ConnectionConfig, { signal, lookup }: TunnelOptions): Promise<Duplex> {
  const server = new URL(config.server);
  const proxy = new URL(config.proxyUrl ?? "");
  const target = `${server.hostname}:${server.port || 443}`;
  const options: RequestOptions = {
    host: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
    method: "CONNECT",
    path: target,
    headers: { host: target, ...authorization(proxy) },
    agent: false,
    lookup,
    signal,
  };
  const request = proxy.protocol === "https:" ? httpsRequest(options) : httpRequest(options);
  return new Promise((resolve, reject) => {
    const refuse = (answer: IncomingMessage) => {
      answer.destroy();
      reject(new TransportError({ kind: "unreachable", detail: `the proxy refused with HTTP ${answer.statusCode}` }));
    };
    request.once("response", refuse);
    request.once("connect", (answer, socket) => {
      if (answer.statusCode === 200) return resolve(socket);
      socket.destroy();
      refuse(answer);
    });
    request.once("error", (error) => reject(signal.aborted ? signal.reason : asTransportError(error)));
    request.end();
  });
}

function authorization(proxy: URL): Record<string, string> {
  if (!proxy.username) return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import type { ConnectionConfig } from "./connection-config.ts";
import { asTransportError } from "./failure-words.ts";
import { isLocalAddress, isLocalHost } from "./local-address.ts";
import { openTunnel } from "./proxy-tunnel.ts";
import { TransportError } from "./transport.ts";

/** Opens a verified TLS connection to the server, offering these protocols. */
export type Dial = (protocols: readonly string[], signal: AbortSignal) => Promise<TLSSocket>;

/** The certificates are parsed once, at the first connect. */
export function createDial(config: ConnectionConfig): Dial {
  let tls: ConnectionOptions | undefined;
  return async (protocols, signal) => {
    signal.throwIfAborted();
    tls ??= tlsOptions(config);
    const tunnel = config.proxyUrl ? await openTunnel(config, { signal, lookup: lookupFor(config) }) : undefined;
    const socket = connect({ ...tls, ...(tunnel && { socket: tunnel }), ALPNProtocols: [...protocols] });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 15_000);
    return await handshake(socket, signal);
  };
}

function tlsOptions(config: ConnectionConfig): ConnectionOptions {
  const { hostname, port } = new URL(config.server);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (config.refuseLoopback && isLocalHost(host)) throw refusedAddress();
  const name = config.serverName ?? host;
  return {
    host,
    port: Number(port || 443),
    lookup: lookupFor(config),
    secureContext: secureContext(config),
    ...(isIP(name) === 0 && { servername: name }),
    rejectUnauthorized: !config.insecureTls,
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
  };
}

function secureContext({ caPem, certPem, keyPem }: ConnectionConfig): SecureContext {
  try {
    return createSecureContext({ ...(caPem && { ca: caPem }), ...(certPem && { cert: certPem, key: keyPem }) });
  } catch {
    throw new TransportError({ kind: "unreachable", detail: "the client certificate of the config is broken" });
  }
}

function handshake(socket: TLSSocket, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const abort = () => socket.destroy(signal.reason);
    const settle = (error?: unknown) => {
      signal.removeEventListener("abort", abort);
      socket.off("secureConnect", settle).off("close", closed);
      if (error === undefined) return resolve(socket);
      reject(signal.aborted ? signal.reason : asTransportError(error));
    };
    const closed = () => settle(new TransportError({ kind: "unreachable", detail: "connection closed at once" }));
    signal.addEventListener("abort", abort);
    socket.once("secureConnect", settle).once("close", closed);
    // Stays for the socket's life: an error nobody listens to would end the process.
    socket.on("error", settle);
  });
}

/** A name is checked where it is resolved: a check before that could be answered differently the second time. */
function lookupFor(config: ConnectionConfig): LookupFunction {
  return (host, options, callback) => {
    const all: LookupOptions & { all: true } = { ...options, all: true };
    dnsLookup(host, all, (error, addresses) => {
      const open = config.refuseLoopback ? addresses?.filter(({ address }) => !isLocalAddress(address)) : addresses;
      const [first] = open ?? [];
      if (error || !first) return callback(error ?? refusedAddress(), "", 0);
      if (options.all) return callback(null, open as LookupAddress[]);
      callback(null, first.address, first.family);
    });
  };
}

function refusedAddress(): TransportError {
  return new TransportError({
    kind: "unreachable",
    detail: "the server's address is loopback or link-local, which is not allowed here",
  });
}

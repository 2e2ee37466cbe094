import { TransportError } from "./transport.ts";

/** What happened on the wire as a `TransportError`. The text of the original stays behind: it may quote the remote side. */
export function asTransportError(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  return new TransportError({ kind: "unreachable", detail: describe(error) });
}

function describe(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const words = wordsByCode.get(code) ?? wordsByPrefix.find(([prefix]) => code.startsWith(prefix))?.[1];
  if (words) return words;
  return /^[A-Z0-9_]{3,60}$/.test(code) ? `connection failed (${code})` : "connection failed";
}

const wordsByCode: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "connection refused"],
  ["ECONNRESET", "connection reset"],
  ["EPIPE", "connection reset"],
  ["ERR_STREAM_PREMATURE_CLOSE", "connection closed in the middle of the answer"],
  ["ETIMEDOUT", "no answer to the connection attempt"],
  ["EHOSTUNREACH", "no route to the host"],
  ["ENETUNREACH", "no route to the network"],
  ["ENOTFOUND", "name not found"],
  ["EAI_AGAIN", "name lookup failed"],
  ["EMFILE", "too many open files here"],
  ["CERT_HAS_EXPIRED", "certificate expired"],
  ["CERT_NOT_YET_VALID", "certificate not valid yet"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "certificate not trusted"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "certificate not trusted"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "certificate not trusted"],
  ["UNABLE_TO_GET_ISSUER_CERT", "certificate not trusted"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "certificate not trusted"],
  ["CERT_SIGNATURE_FAILURE", "certificate not trusted"],
  ["CERT_UNTRUSTED", "certificate not trusted"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "certificate is for another name"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "the server does not speak TLS"],
  ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "the server does not speak TLS"],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "the server asks for a client certificate"],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "the server does not trust our client certificate"],
  ["ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE", "the server does not trust our client certificate"],
  ["ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED", "our client certificate expired"],
  ["ERR_HTTP2_STREAM_ERROR", "the server broke the stream off"],
  ["ERR_HTTP2_SESSION_ERROR", "the server broke the connection off"],
  ["ERR_HTTP2_ERROR", "the server broke the HTTP/2 protocol"],
]);

const wordsByPrefix: readonly (readonly [string, string])[] = [
  ["HPE_", "the server broke the HTTP/1.1 protocol"],
  ["ERR_SSL_", "the TLS handshake failed"],
  ["EPROTO", "the TLS handshake failed"],
];

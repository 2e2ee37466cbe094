import { X509Certificate } from "node:crypto";
import type { ConnectionConfig } from "./connection-config.ts";

/** When a credential ends, as it says itself. Nothing else of it is in here. */
export interface CredentialExpiry {
  readonly kind: "certificate" | "token";
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** For how long it was given, where it says since when it is good. */
  readonly lifetimeMs?: number;
}

type Credential = Pick<ConnectionConfig, "certPem" | "token">;

const latestMs = 8.64e15;

/** The earliest end of the client certificate and the token; undefined where neither says. Nothing is verified. */
export function credentialExpiry({ certPem, token }: Credential): CredentialExpiry | undefined {
  const certificate = ends("certificate", certPem === undefined ? undefined : certificateSpan(certPem));
  const jwt = ends("token", typeof token === "string" ? tokenSpan(token) : undefined);
  if (!certificate || !jwt) return certificate ?? jwt;
  return certificate.atMs <= jwt.atMs ? certificate : jwt;
}

/** From when to when it is good, in milliseconds since 1970. */
interface Span {
  readonly fromMs?: number | undefined;
  readonly toMs: number;
}

function ends(kind: CredentialExpiry["kind"], span: Span | undefined): CredentialExpiry | undefined {
  if (!span || !(Math.abs(span.toMs) <= latestMs)) return undefined;
  const lifetimeMs = span.fromMs === undefined ? Number.NaN : span.toMs - span.fromMs;
  return lifetimeMs > 0 ? { kind, atMs: span.toMs, lifetimeMs } : { kind, atMs: span.toMs };
}

/** Of the first certificate: the others are its issuers. */
function certificateSpan(pem: string): Span | undefined {
  return attempt(() => {
    const { validFromDate, validToDate } = new X509Certificate(pem);
    return { fromMs: validFromDate.getTime(), toMs: validToDate.getTime() };
  });
}

/** The `iat` and `exp` of a JSON Web Token. Most bearer tokens are one; those that are not are opaque. */
function tokenSpan(token: string): Span | undefined {
  const parts = token.split(".");
  const [, payload] = parts;
  if (parts.length !== 3 || payload === undefined) return undefined;
  const claims = attempt((): unknown => JSON.parse(Buffer.from(payload, "base64url").toString("utf8")));
  const { iat, exp } = typeof claims === "object" && claims !== null ? (claims as Record<string, unknown>) : {};
  if (typeof exp !== "number") return undefined;
  return { fromMs: typeof iat === "number" ? iat * 1000 : undefined, toMs: exp * 1000 };
}

/** What goes wrong is told to nobody: the error may quote the credential. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

import { X509Certificate } from "node:crypto";
import type { ConnectionConfig } from "./connection-config.ts";

/** When a credential ends, as it says itself. Nothing else of it is in here. */
export interface CredentialExpiry {
  readonly kind: "certificate" | "token";
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

type Credential = Pick<ConnectionConfig, "certPem" | "token">;

const latestMs = 8.64e15;

/** The earliest end of the client certificate and the token; undefined where neither says. Nothing is verified. */
export function credentialExpiry({ certPem, token }: Credential): CredentialExpiry | undefined {
  const certificate = ends("certificate", certPem === undefined ? undefined : certificateEndMs(certPem));
  const jwt = ends("token", typeof token === "string" ? tokenEndMs(token) : undefined);
  if (!certificate || !jwt) return certificate ?? jwt;
  return certificate.atMs <= jwt.atMs ? certificate : jwt;
}

function ends(kind: CredentialExpiry["kind"], atMs: number | undefined): CredentialExpiry | undefined {
  return atMs !== undefined && Math.abs(atMs) <= latestMs ? { kind, atMs } : undefined;
}

/** Of the first certificate: the others are its issuers. */
function certificateEndMs(pem: string): number | undefined {
  return attempt(() => new X509Certificate(pem).validToDate.getTime());
}

/** The `exp` of a JSON Web Token. Most bearer tokens are one; those that are not are opaque. */
function tokenEndMs(token: string): number | undefined {
  const parts = token.split(".");
  const [, payload] = parts;
  if (parts.length !== 3 || payload === undefined) return undefined;
  const claims = attempt((): unknown => JSON.parse(Buffer.from(payload, "base64url").toString("utf8")));
  const exp = typeof claims === "object" && claims !== null && "exp" in claims ? claims.exp : undefined;
  return typeof exp === "number" ? exp * 1000 : undefined;
}

/** What goes wrong is told to nobody: the error may quote the credential. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

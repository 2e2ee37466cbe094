import { sign } from "node:crypto";

/** So long an API server goes on to accept a token that has ended: clocks differ. */
export const leewayMs = 60_000;

/** The same token with another end, signed with the key with which its API server signs. */
export function tokenEndingAt(token: string, at: Date, keyPem: string): string {
  const [header = "", payload = ""] = token.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  const exp = Math.floor(at.getTime() / 1000);
  const text = JSON.stringify({ ...claims, iat: exp - 3600, nbf: exp - 3600, exp });
  const signed = `${header}.${Buffer.from(text).toString("base64url")}`;
  const signature = sign("sha256", Buffer.from(signed), { key: keyPem, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

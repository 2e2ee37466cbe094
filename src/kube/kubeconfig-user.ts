import type { ConnectionConfig } from "./connection-config.ts";
import type { Fields } from "./kubeconfig-fields.ts";
import { areCertificates, decodeBase64, privateKeyOf, signs } from "./pem.ts";

type Credential = Pick<ConnectionConfig, "token" | "certPem" | "keyPem">;

/** Each way to log in that a kubeconfig from outside must not use, and what to use instead. */
const refused: Readonly<Record<string, string>> = {
  exec: "runs a program; use a token or a client certificate",
  "auth-provider": "is not supported; use a token or a client certificate",
  tokenFile: "is a file path; put the token in token",
  "client-certificate": "is a file path; put its content in client-certificate-data",
  "client-key": "is a file path; put its content in client-key-data",
  username: "basic authentication is not supported; use a token or a client certificate",
  password: "basic authentication is not supported; use a token or a client certificate",
  as: "impersonation is not supported; use the credential of the account itself",
  "as-uid": "impersonation is not supported; use the credential of the account itself",
  "as-groups": "impersonation is not supported; use the credential of the account itself",
  "as-user-extra": "impersonation is not supported; use the credential of the account itself",
};

/** Reads the `user` part of a kubeconfig; what is wrong with it is noted on `fields`. */
export function readUser(fields: Fields): Credential | undefined {
  const refusals = Object.entries(refused).filter(([field]) => fields.has(field));
  for (const [field, message] of refusals) fields.problem(field, message);
  const credential = { ...readToken(fields), ...readCertificate(fields) };
  const hasAny = ["token", "client-certificate-data", "client-key-data"].some((field) => fields.has(field));
  if (hasAny || refusals.length > 0) return credential;
  return fields.problem(undefined, "has neither token nor client-certificate-data");
}

function readToken(fields: Fields): Credential | undefined {
  const token = fields.text("token");
  if (token === undefined) return undefined;
  return /^[\x21-\x7e]+$/.test(token) ? { token } : fields.problem("token", "has characters that no token has");
}

function readCertificate(fields: Fields): Credential | undefined {
  const certPem = readData(fields, "client-certificate-data");
  const keyPem = readData(fields, "client-key-data");
  if (!certPem && !keyPem) return undefined;
  if (certPem && !areCertificates(certPem)) {
    return fields.problem("client-certificate-data", "is not a PEM certificate");
  }
  const key = keyPem ? privateKeyOf(keyPem) : undefined;
  if (keyPem && !key) return fields.problem("client-key-data", "is not an unencrypted PEM private key");
  if (!certPem || !keyPem || !key) return missingHalf(fields);
  if (!signs(key, certPem)) return fields.problem("client-key-data", "does not belong to client-certificate-data");
  return { certPem, keyPem };
}

function missingHalf(fields: Fields): undefined {
  for (const field of ["client-certificate-data", "client-key-data"]) {
    if (!fields.has(field)) fields.problem(field, "is missing; certificate and key go together");
  }
}

function readData(fields: Fields, field: string): string | undefined {
  const data = fields.text(field);
  return data === undefined ? undefined : (decodeBase64(data) ?? fields.problem(field, "is not base64"));
}

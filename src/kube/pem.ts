import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";

/** The text in standard base64 (line breaks allowed), or `undefined`. */
export function decodeBase64(data: string): string | undefined {
  const compact = data.replace(/\s/g, "");
  const isBase64 = compact.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(compact);
  return isBase64 ? Buffer.from(compact, "base64").toString("utf8") : undefined;
}

/** True if the text holds at least one PEM certificate and every one of them parses. */
export function areCertificates(pem: string): boolean {
  const blocks = certificatesIn(pem);
  return blocks.length > 0 && blocks.every((block) => attempt(() => new X509Certificate(block)) !== undefined);
}

export function privateKeyOf(pem: string): KeyObject | undefined {
  return attempt(() => createPrivateKey(pem));
}

/** True if `key` is the private key of the first certificate. */
export function signs(key: KeyObject, certPem: string): boolean {
  const [leaf] = certificatesIn(certPem);
  return leaf !== undefined && new X509Certificate(leaf).checkPrivateKey(key);
}

/** Known by their content, whatever order and layout they are written in. */
export function fingerprintsIn(pem: string): readonly string[] {
  const found = certificatesIn(pem).flatMap((block) => attempt(() => new X509Certificate(block).fingerprint256) ?? []);
  return [...new Set(found)].sort();
}

function certificatesIn(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

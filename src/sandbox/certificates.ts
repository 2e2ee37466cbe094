import "reflect-metadata";
import { webcrypto } from "node:crypto";
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";

export interface ServingCertificate {
  readonly caPem: string;
  readonly certificatePem: string;
  readonly keyPem: string;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const dayMs = 24 * 60 * 60 * 1000;

/** A new authority and a certificate for 127.0.0.1 and localhost signed by it, valid for a year from `now`. */
export async function createServingCertificate(name: string, now: Date): Promise<ServingCertificate> {
  const { subtle } = webcrypto;
  const caKeys = await subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const keys = await subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const validity = { notBefore: new Date(now.getTime() - dayMs), notAfter: new Date(now.getTime() + 365 * dayMs) };
  const issuer = `CN=${name}-ca`;
  const ca = await X509CertificateGenerator.createSelfSigned(
    {
      ...validity,
      name: issuer,
      keys: caKeys,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    },
    webcrypto,
  );
  const certificate = await X509CertificateGenerator.create(
    {
      ...validity,
      subject: `CN=${name}`,
      issuer,
      signingKey: caKeys.privateKey,
      publicKey: keys.publicKey,
      signingAlgorithm: algorithm,
      extensions: servingExtensions(),
    },
    webcrypto,
  );
  const key = PemConverter.encode(await subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { caPem: `${ca.toString("pem")}\n`, certificatePem: `${certificate.toString("pem")}\n`, keyPem: `${key}\n` };
}

function servingExtensions() {
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension([
      { type: "ip", value: "127.0.0.1" },
      { type: "dns", value: "localhost" },
      { type: "dns", value: "kubernetes" },
      { type: "dns", value: "kubernetes.default.svc" },
    ]),
  ];
}

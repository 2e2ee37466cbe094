import "reflect-metadata";
import { webcrypto } from "node:crypto";
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";

export interface KeyAndCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface TestCertificates {
  readonly caPem: string;
  /** For 127.0.0.1, localhost and `cluster.test`. */
  readonly server: KeyAndCertificate;
  readonly client: KeyAndCertificate;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const notBefore = new Date("2020-01-01T00:00:00Z");
const notAfter = new Date("2100-01-01T00:00:00Z");

/** A certificate authority that nobody else trusts, with a server and a client certificate of it. */
export async function makeCertificates(): Promise<TestCertificates> {
  const caKeys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const ca = await X509CertificateGenerator.createSelfSigned({
    name: "CN=test authority",
    keys: caKeys,
    serialNumber: "01",
    signingAlgorithm: algorithm,
    notBefore,
    notAfter,
    extensions: [new BasicConstraintsExtension(true), new KeyUsagesExtension(KeyUsageFlags.keyCertSign)],
  });
  const issue = async (serialNumber: string, name: string): Promise<KeyAndCertificate> => {
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
    const certificate = await X509CertificateGenerator.create({
      subject: `CN=${name}`,
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      serialNumber,
      signingAlgorithm: algorithm,
      notBefore,
      notAfter,
      extensions: [
        new SubjectAlternativeNameExtension([
          { type: "ip", value: "127.0.0.1" },
          { type: "dns", value: "localhost" },
          { type: "dns", value: name },
        ]),
      ],
    });
    return { certPem: certificate.toString("pem"), keyPem: await exportKey(keys.privateKey) };
  };
  return { caPem: ca.toString("pem"), server: await issue("02", "cluster.test"), client: await issue("03", "admin") };
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
}

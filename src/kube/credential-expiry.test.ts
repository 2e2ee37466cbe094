import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { makeCertificates, type TestCertificates } from "../../test/support/test-certificates.ts";
import { credentialExpiry } from "./credential-expiry.ts";

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const aToken = (claims: unknown): string => `${part({ alg: "RS256" })}.${part(claims)}.c2lnbmF0dXJl`;

describe("a token", () => {
  it("that is a JSON Web Token ends when its exp says", () => {
    expect(credentialExpiry({ token: aToken({ exp: 1_900_000_000 }) })).toEqual({
      kind: "token",
      atMs: 1_900_000_000_000,
    });
  });

  it("says for how long it was given when it says since when", () => {
    expect(credentialExpiry({ token: aToken({ iat: 1_900_000_000, exp: 1_900_003_600 }) })).toMatchObject({
      lifetimeMs: 3_600_000,
    });
    expect(credentialExpiry({ token: aToken({ iat: 2, exp: 1 }) })).toEqual({ kind: "token", atMs: 1000 });
  });

  it.each<[string, string]>([
    ["is opaque", "s3cr3t"],
    ["has no exp", aToken({ sub: "me" })],
    ["has an exp that is text", aToken({ exp: "1900000000" })],
    ["has an exp beyond all dates", aToken({ exp: 1e30 })],
    ["has an exp that is no number", `a.${Buffer.from('{"exp":1e999}').toString("base64url")}.c`],
    ["has claims that are no object", aToken(null)],
    ["only looks like one", "a.b.c"],
    ["has a part too many", `${aToken({ exp: 1 })}.x`],
  ])("that %s says nothing of its end", (_, token) => {
    expect(credentialExpiry({ token })).toBeUndefined();
  });

  it("of any shape is read without an error, and only its end comes out", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (token, claims) => {
        for (const text of [token, `a.${Buffer.from(claims).toString("base64url")}.c`]) {
          const expiry = credentialExpiry({ token: text });
          expect(expiry === undefined || Number.isFinite(expiry.atMs)).toBe(true);
        }
      }),
    );
  });

  it("that rotates is somebody else's care", () => {
    expect(credentialExpiry({ token: () => aToken({ exp: 1 }) })).toBeUndefined();
  });
});

describe("a client certificate", () => {
  let certificates: TestCertificates;
  beforeAll(async () => {
    certificates = await makeCertificates();
  });

  it("ends when it is no longer valid", () => {
    const { certPem } = certificates.client;
    const end = { kind: "certificate", atMs: Date.parse("2100-01-01T00:00:00Z") };
    expect(credentialExpiry({ certPem })).toMatchObject(end);
  });

  it("beside a token counts only when it ends first", () => {
    const { certPem } = certificates.client;
    expect(credentialExpiry({ certPem, token: aToken({ exp: 1 }) })?.kind).toBe("token");
    expect(credentialExpiry({ certPem, token: aToken({ exp: 5e9 }) })?.kind).toBe("certificate");
  });

  it("that is none says nothing", () => {
    expect(credentialExpiry({ certPem: "-----BEGIN CERTIFICATE-----" })).toBeUndefined();
  });
});

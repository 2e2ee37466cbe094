import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deriveEndpointId, deriveSeed, endpointIdDeriver, endpointIdOf, parseEndpointId } from "./identity.ts";

const zeroKey = new Uint8Array(32);

describe("an identity derived from the shared key and the node's name", () => {
  test.each([
    [0x2a, "node-a", "4229afe8d9c12d0acfd98cb56d4e2edd0e844442651a70a6995c2ed7ef100684"],
    [0, "edge-a", "fb3854f189c31fb61df2ace61f34ef7817fc90ccefbcfb94c3346e03b8b143fb"],
    [0, "edge-b", "84f5efd74c84c3ae848be186d7c2f169b94acda724ec6ee1506b321d9a504a4f"],
  ])("is the one that peat-node has: key of bytes %i, %s", (byte, nodeId, expected) => {
    expect(deriveEndpointId(new Uint8Array(32).fill(byte), nodeId)).toBe(expected);
  });

  test.each([
    ["attach-a", /^035254fa[0-9a-f]{50}447634$/],
    ["attach-b", /^70de0ba0[0-9a-f]{48}98f4e6f9$/],
  ])("is the one that peat-node's documents show in part: %s", (nodeId, expected) => {
    expect(deriveEndpointId(zeroKey, nodeId)).toMatch(expected);
  });

  test("is stable, and another one for another name or another key", () => {
    const id = deriveEndpointId(zeroKey, "peat-0");
    expect(deriveEndpointId(new Uint8Array(32), "peat-0")).toBe(id);
    expect(deriveEndpointId(zeroKey, "peat-1")).not.toBe(id);
    expect(deriveEndpointId(new Uint8Array(31), "peat-0")).not.toBe(id);
  });

  test("is a key that signs", () => {
    const seed = deriveSeed(zeroKey, "peat-0");
    const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
    const signature = sign(null, Buffer.from("hello"), createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
    const x = Buffer.from(endpointIdOf(seed), "hex").toString("base64url");
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    expect(verify(null, Buffer.from("hello"), key, signature)).toBe(true);
  });

  test("needs a key and a name", () => {
    expect(() => deriveSeed(new Uint8Array(), "peat-0")).toThrow("empty shared key");
    expect(() => deriveSeed(zeroKey, "")).toThrow("empty node id");
    expect(() => endpointIdOf(new Uint8Array(31))).toThrow("32 bytes, not 31");
  });

  test("comes out the same when it is remembered", () => {
    const derive = endpointIdDeriver(zeroKey);
    for (const name of ["edge-a", "edge-b", "edge-a"]) expect(derive(name)).toBe(deriveEndpointId(zeroKey, name));
  });
});

describe("the text of an endpoint id", () => {
  test("is read in any case, and comes out in lower case", () => {
    const id = deriveEndpointId(zeroKey, "edge-a");
    expect(parseEndpointId(` ${id.toUpperCase()}\n`)).toBe(id);
  });

  test.each(["", "ab", "g".repeat(64), "0".repeat(63), "0".repeat(65), `${"0".repeat(32)} ${"0".repeat(31)}`])(
    "is refused when it is none: %j",
    (text) => {
      expect(parseEndpointId(text)).toBeUndefined();
    },
  );

  test("is read back for every seed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
        const id = endpointIdOf(seed);
        expect(parseEndpointId(id)).toBe(id);
      }),
      { numRuns: 50 },
    );
  });
});

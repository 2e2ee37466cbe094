import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { endpointIdOf } from "../identity.ts";
import { formationOf, isProven, proofOf, type Transcript } from "./formation.ts";

const key = new Uint8Array(32).fill(0x2a);

const aTranscript = (overrides: Partial<Transcript> = {}): Transcript => ({
  dialer: endpointIdOf(new Uint8Array(32).fill(1)),
  acceptor: endpointIdOf(new Uint8Array(32).fill(2)),
  dialerNonce: new Uint8Array(32).fill(3),
  acceptorNonce: new Uint8Array(32).fill(4),
  ...overrides,
});

describe("the formation key", () => {
  it("comes from the formation id and the secret by HKDF", () => {
    expect(Buffer.from(formationOf("peat-default", key).key).toString("hex")).toBe(
      "1f4a6648348a1d6e011b01212844e9616059b97648e2420d3640130dfc17f495",
    );
  });

  it("takes a secret of another length by its hash", () => {
    const short = Buffer.from("short");
    const hashed = createHash("sha256").update(short).digest();
    expect(formationOf("f", short).key).toEqual(formationOf("f", hashed).key);
  });

  it("is another one for another id, another secret, or none", () => {
    const keys = [
      formationOf("f", key),
      formationOf("g", key),
      formationOf("f", new Uint8Array(32)),
      formationOf("f", new Uint8Array()),
    ].map((formation) => Buffer.from(formation.key).toString("hex"));
    expect(new Set(keys).size).toBe(4);
  });
});

describe("a proof", () => {
  const formation = formationOf("f", key);
  const proof = proofOf(formation, "dialer", aTranscript());

  it("is accepted by who has the same formation", () => {
    expect(isProven(proof, proofOf(formationOf("f", key), "dialer", aTranscript()))).toBe(true);
  });

  it.each<[string, Uint8Array]>([
    ["the other role", proofOf(formation, "acceptor", aTranscript())],
    ["another formation id", proofOf({ ...formation, id: "g" }, "dialer", aTranscript())],
    ["another key", proofOf({ ...formation, key: new Uint8Array(32) }, "dialer", aTranscript())],
    ["another dialer", proofOf(formation, "dialer", aTranscript({ dialer: aTranscript().acceptor }))],
    ["another acceptor", proofOf(formation, "dialer", aTranscript({ acceptor: aTranscript().dialer }))],
    ["another connection", proofOf(formation, "dialer", aTranscript({ acceptorNonce: new Uint8Array(32) }))],
    ["another attempt", proofOf(formation, "dialer", aTranscript({ dialerNonce: new Uint8Array(32) }))],
    ["nothing", new Uint8Array()],
  ])("is not good for %s", (_, expected) => {
    expect(isProven(proof, expected)).toBe(false);
  });
});

import { createHash, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { EndpointId } from "../identity.ts";

/** What our connections speak. Another version is another protocol. */
export const linkProtocol = "kilo-clustermesh/mesh-node/1";

export const nonceBytes = 32;
export const proofBytes = 32;

/** Those who may link: same formation id, same key. */
export interface Formation {
  readonly id: string;
  readonly key: Uint8Array;
}

export type Role = "dialer" | "acceptor";

/** What both sides of one connection know. The transport has proven the ids; the nonces are new each time. */
export interface Transcript {
  readonly dialer: EndpointId;
  readonly acceptor: EndpointId;
  readonly dialerNonce: Uint8Array;
  readonly acceptorNonce: Uint8Array;
}

/**
 * The formation of an id and a shared key. An empty key makes an open formation: everybody who knows the formation id
 * is in it.
 */
export function formationOf(id: string, sharedKey: Uint8Array): Formation {
  const secret = sharedKey.length === 32 ? sharedKey : createHash("sha256").update(sharedKey).digest();
  return { id, key: new Uint8Array(hkdfSync("sha256", secret, id, "peat-protocol-v1-formation", 32)) };
}

/** Shows that `role` has the formation key; good for this connection and this role alone. */
export function proofOf(formation: Formation, role: Role, transcript: Transcript): Uint8Array {
  const formationId = Buffer.from(formation.id);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(formationId.length);
  return createHmac("sha256", formation.key)
    .update(`${linkProtocol} ${role}\n`)
    .update(length)
    .update(formationId)
    .update(Buffer.from(transcript.dialer + transcript.acceptor, "hex"))
    .update(transcript.dialerNonce)
    .update(transcript.acceptorNonce)
    .digest();
}

/** Takes the same time for every wrong proof. */
export function isProven(proof: Uint8Array, expected: Uint8Array): boolean {
  return proof.length === expected.length && timingSafeEqual(proof, expected);
}

import { nonceBytes, proofBytes } from "./formation.ts";

/**
 * A decision that one connection is the link of a pair, made by the side with the lower id. Of two by the same process
 * the higher number is the later one.
 */
export interface Adoption {
  /** Random, one per process. */
  readonly instance: bigint;
  readonly number: bigint;
}

/** What is said before a connection is a link, in this order; `adopted` by the side that decides. */
export type Greeting =
  | { readonly kind: "hello"; readonly nonce: Uint8Array }
  | { readonly kind: "challenge"; readonly nonce: Uint8Array }
  | { readonly kind: "dialer"; readonly proof: Uint8Array; readonly held: Adoption | undefined }
  | { readonly kind: "acceptor"; readonly proof: Uint8Array; readonly held: Adoption | undefined }
  | { readonly kind: "adopted"; readonly adoption: Adoption };

export type GreetingKind = Greeting["kind"];

const adoptionBytes = 16;
export const maxGreetingBytes = 1 + proofBytes + adoptionBytes;

const tags = { hello: 1, challenge: 2, dialer: 3, acceptor: 4, adopted: 5 } as const;

export function encodeGreeting(greeting: Greeting): Uint8Array {
  return Buffer.concat([Uint8Array.of(tags[greeting.kind]), ...bodyOf(greeting)]);
}

/** Nothing when the bytes are not a greeting of that kind. */
export function decodeGreeting<Kind extends GreetingKind>(
  kind: Kind,
  bytes: Uint8Array,
): Extract<Greeting, { kind: Kind }> | undefined {
  const body = Buffer.from(bytes).subarray(1);
  if (bytes[0] !== tags[kind] || body.length !== bodyBytes[kind]) return undefined;
  return decodeBody(kind, body) as Extract<Greeting, { kind: Kind }>;
}

const bodyBytes: Readonly<Record<GreetingKind, number>> = {
  hello: nonceBytes,
  challenge: nonceBytes,
  dialer: proofBytes + adoptionBytes,
  acceptor: proofBytes + adoptionBytes,
  adopted: adoptionBytes,
};

function bodyOf(greeting: Greeting): readonly Uint8Array[] {
  if ("nonce" in greeting) return [greeting.nonce];
  if ("proof" in greeting) return [greeting.proof, encodeAdoption(greeting.held ?? none)];
  return [encodeAdoption(greeting.adoption)];
}

function decodeBody(kind: GreetingKind, body: Buffer): Greeting {
  if (kind === "hello" || kind === "challenge") return { kind, nonce: body };
  if (kind === "adopted") return { kind, adoption: decodeAdoption(body) };
  const held = decodeAdoption(body.subarray(proofBytes));
  return { kind, proof: body.subarray(0, proofBytes), held: held.number === none.number ? undefined : held };
}

/** Numbers begin at 1. */
const none: Adoption = { instance: 0n, number: 0n };

function encodeAdoption({ instance, number }: Adoption): Uint8Array {
  const bytes = Buffer.alloc(adoptionBytes);
  bytes.writeBigUInt64BE(instance, 0);
  bytes.writeBigUInt64BE(number, 8);
  return bytes;
}

function decodeAdoption(bytes: Buffer): Adoption {
  return { instance: bytes.readBigUInt64BE(0), number: bytes.readBigUInt64BE(8) };
}

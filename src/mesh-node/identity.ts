import { createPrivateKey, createPublicKey, hkdfSync } from "node:crypto";

/** The Ed25519 public key of a node as 64 lowercase hex digits: what a peer has to prove that it holds. */
export type EndpointId = string & { readonly __endpointId: true };

export const seedBytes = 32;

/**
 * The secret seed of a node. Whoever has the shared key can compute the seed of every node: inside a formation this
 * is an address, not a proof of who somebody is.
 */
export function deriveSeed(sharedKey: Uint8Array, nodeId: string): Uint8Array {
  if (sharedKey.length === 0) throw new Error("an identity cannot be derived from an empty shared key");
  if (nodeId === "") throw new Error("an identity cannot be derived for an empty node id");
  return new Uint8Array(hkdfSync("sha256", sharedKey, new Uint8Array(), `iroh:${nodeId}`, seedBytes));
}

/** The public side of a seed. */
export function endpointIdOf(seed: Uint8Array): EndpointId {
  if (seed.length !== seedBytes) throw new Error(`a seed has ${seedBytes} bytes, not ${seed.length}`);
  const der = Buffer.concat([pkcs8Ed25519, seed]);
  const key = createPublicKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
  return key.export({ format: "der", type: "spki" }).subarray(-32).toString("hex") as EndpointId;
}

export function deriveEndpointId(sharedKey: Uint8Array, nodeId: string): EndpointId {
  return endpointIdOf(deriveSeed(sharedKey, nodeId));
}

/** `deriveEndpointId` for one shared key that remembers its answers: a roster asks for the same pods again and again. */
export function endpointIdDeriver(sharedKey: Uint8Array): (nodeId: string) => EndpointId {
  const known = new Map<string, EndpointId>();
  return (nodeId) => {
    const id = known.get(nodeId) ?? deriveEndpointId(sharedKey, nodeId);
    if (known.size >= rememberedIds) known.clear();
    known.set(nodeId, id);
    return id;
  };
}

/** The id in `text`, in any case and with spaces around it, or nothing when it is none. */
export function parseEndpointId(text: string): EndpointId | undefined {
  const id = text.trim().toLowerCase();
  return /^[0-9a-f]{64}$/.test(id) ? (id as EndpointId) : undefined;
}

const rememberedIds = 10_000;

/** Everything of an Ed25519 private key in PKCS #8 before its seed. */
const pkcs8Ed25519 = Buffer.from("302e020100300506032b657004220420", "hex");

import type { SidecarPorts } from "../../src/mesh-node/api/api-ports.ts";
import { type EndpointId, parseEndpointId } from "../../src/mesh-node/identity.ts";
import { MemoryDocuments } from "./memory-documents.ts";

/** An endpoint id whose digits are all the same. */
export function anId(digit: string): EndpointId {
  const id = parseEndpointId(digit.repeat(64));
  if (id === undefined) throw new Error(`${digit} is no hexadecimal digit`);
  return id;
}

/** A node without peers, as the API sees it. */
export function sidecarPorts(overrides: Partial<SidecarPorts> = {}): SidecarPorts {
  return {
    self: { nodeId: "node-a", endpointId: anId("a") },
    documents: new MemoryDocuments(),
    phase: () => "running",
    links: () => [],
    traffic: () => ({ bytesSent: 0, bytesReceived: 0 }),
    sync: () => ({ framesSent: 0, framesReceived: 0, merged: 0, reconciling: 0 }),
    connect: async () => "linked",
    disconnect: () => undefined,
    sight: () => ({ mode: "none", discovery: { known: true }, peers: [], skipped: [] }),
    ...overrides,
  };
}

import type { ServiceImpl } from "@connectrpc/connect";
import { NodePhase, type PeatSidecar } from "../gen/peat/sidecar/v1/sidecar_pb.ts";
import { connectPeer, disconnectPeer, listDiscoveredPeers, listPeers } from "./api-peers.ts";
import type { SidecarPorts } from "./api-ports.ts";
import { follow } from "./api-subscribe.ts";

const phases = {
  starting: NodePhase.INITIALIZING,
  running: NodePhase.READY,
  stopping: NodePhase.SHUTTING_DOWN,
} as const;

/** The service of proto/peat/sidecar/v1/sidecar.proto. What it throws is turned into codes by `api-errors.ts`. */
export function sidecarService(ports: SidecarPorts): ServiceImpl<typeof PeatSidecar> {
  const { documents } = ports;
  return {
    getStatus: () => statusOf(ports),
    connectPeer: (request) => connectPeer(ports, request),
    disconnectPeer: (request) => disconnectPeer(ports, request),
    listPeers: () => listPeers(ports),
    listDiscoveredPeers: () => listDiscoveredPeers(ports),
    putDocument: async ({ collection, docId, jsonData }) => {
      await documents.put(collection, docId, jsonData);
      return {};
    },
    getDocument: async ({ collection, docId }) => {
      const jsonData = await documents.get(collection, docId);
      return jsonData === undefined ? {} : { jsonData };
    },
    deleteDocument: async ({ collection, docId }) => {
      await documents.delete(collection, docId);
      return {};
    },
    listDocuments: async ({ collection }) => ({ docIds: (await documents.list(collection)).map(({ id }) => id) }),
    subscribe: ({ collections }, { signal }) => follow(documents, collections, { signal }),
    getSyncStats: () => syncStatsOf(ports),
  };
}

function statusOf({ self, phase, links }: SidecarPorts) {
  const connectedPeers = links().length;
  const isSyncing = phase() === "running" && connectedPeers > 0;
  return {
    nodeId: self.nodeId,
    endpointAddr: self.endpointId,
    syncActive: phase() === "running",
    connectedPeers,
    phase: isSyncing ? NodePhase.SYNCING : phases[phase()],
  };
}

function syncStatsOf({ phase, links, traffic }: SidecarPorts) {
  const { bytesSent, bytesReceived } = traffic();
  return {
    syncActive: phase() === "running",
    connectedPeers: links().length,
    bytesSent: BigInt(bytesSent),
    bytesReceived: BigInt(bytesReceived),
  };
}

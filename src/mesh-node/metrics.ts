import type { MetricTable } from "../runtime/metrics.ts";

/** Every metric of a mesh node. docs/reference/mesh-node.md says what to make of them. */
export const nodeMetrics = {
  mesh_node_info: {
    type: "gauge",
    help: "Always 1; who this node is.",
    labels: ["version", "node_id", "endpoint_id"],
    atScrape: true,
  },
  mesh_node_links: { type: "gauge", help: "Live links to peers.", labels: [], atScrape: true },
  mesh_node_peers: {
    type: "gauge",
    help: "Known peers by where they are known from and what became of them.",
    labels: ["origin", "state"],
    atScrape: true,
  },
  mesh_node_peers_waiting: {
    type: "gauge",
    help: "Peers that are not linked, by why the last dial failed.",
    labels: ["reason"],
    atScrape: true,
  },
  mesh_node_members_skipped: {
    type: "gauge",
    help: "What discovery sees and is no peer, by reason.",
    labels: ["reason"],
    atScrape: true,
  },
  mesh_node_discovery_known: {
    type: "gauge",
    help: "1 while discovery sees what is there, 0 while it keeps what it saw last; absent in mode none.",
    labels: ["mode"],
    atScrape: true,
  },
  mesh_node_dials_total: {
    type: "counter",
    help: "Dials by how they ended: `linked`, or why not.",
    labels: ["outcome"],
  },
  mesh_node_dial_seconds: {
    type: "histogram",
    help: "How long a dial took that ended in a link, with the proof of the formation.",
    labels: [],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  mesh_node_inbound_refused_total: {
    type: "counter",
    help: "Connections of others that did not become a link, by reason.",
    labels: ["reason"],
  },
  mesh_node_links_ended_total: { type: "counter", help: "Links that ended, by reason.", labels: ["reason"] },
  mesh_node_frame_bytes_total: {
    type: "counter",
    help: "Bytes of frames exchanged with peers, without what the transport adds.",
    labels: ["direction"],
    atScrape: true,
  },
  mesh_node_frames_total: {
    type: "counter",
    help: "Frames of the sync protocol exchanged with peers.",
    labels: ["direction"],
    atScrape: true,
  },
  mesh_node_changes_merged_total: {
    type: "counter",
    help: "Changes of documents that came from peers and were new.",
    labels: [],
    atScrape: true,
  },
  mesh_node_documents_reconciling: {
    type: "gauge",
    help: "Documents that are being compared with some peer now.",
    labels: [],
    atScrape: true,
  },
  mesh_node_documents: { type: "gauge", help: "Documents.", labels: [], atScrape: true },
  mesh_node_tombstones: { type: "gauge", help: "Deletions that are remembered.", labels: [], atScrape: true },
  mesh_node_document_bytes: {
    type: "gauge",
    help: "Bytes of all documents with their history.",
    labels: [],
    atScrape: true,
  },
  mesh_node_store_file_bytes: { type: "gauge", help: "Size of the store's file.", labels: [], atScrape: true },
  mesh_node_store_failing: {
    type: "gauge",
    help: "1 when the last write to the store failed, else 0.",
    labels: [],
    atScrape: true,
  },
  mesh_node_calls_total: {
    type: "counter",
    help: "Calls of the API by method and code; a stream counts when it begins.",
    labels: ["method", "code"],
  },
} as const satisfies MetricTable;

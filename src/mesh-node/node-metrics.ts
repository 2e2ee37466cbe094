import { Metrics } from "../runtime/metrics.ts";
import type { SidecarPorts } from "./api/api-ports.ts";
import type { LinkEvent } from "./links/peer-state.ts";
import { nodeMetrics } from "./metrics.ts";

/** The metrics of one node: what it counts, and what is read from its state at a scrape. */
export class NodeMetrics {
  readonly #series = new Metrics(nodeMetrics, { ofProcess: true });

  get contentType(): string {
    return this.#series.contentType;
  }

  called(method: string, code: string): void {
    this.#series.add("mesh_node_calls_total", { method, code });
  }

  observe(event: LinkEvent): void {
    const series = this.#series;
    if (event.kind === "refused") series.add("mesh_node_inbound_refused_total", { reason: event.reason });
    if (event.kind === "down") series.add("mesh_node_links_ended_total", { reason: event.reason });
    if (event.kind !== "dialed") return;
    series.add("mesh_node_dials_total", { outcome: event.outcome });
    if (event.outcome === "linked") series.observe("mesh_node_dial_seconds", {}, event.tookMs / 1000);
  }

  text(ports: SidecarPorts, version: string): Promise<string> {
    return this.#series.text(() => {
      const { nodeId: node_id, endpointId: endpoint_id } = ports.self;
      this.#series.add("mesh_node_info", { version, node_id, endpoint_id });
      this.#fillMesh(ports);
      this.#fillSync(ports);
      this.#fillDocuments(ports);
    });
  }

  #fillMesh(ports: SidecarPorts): void {
    const series = this.#series;
    const { mode, discovery, peers, skipped } = ports.sight();
    series.add("mesh_node_links", {}, ports.links().length);
    for (const { origin, state, reason } of peers) {
      series.add("mesh_node_peers", { origin, state });
      if (reason !== undefined) series.add("mesh_node_peers_waiting", { reason });
    }
    for (const { reason } of skipped) series.add("mesh_node_members_skipped", { reason });
    if (mode !== "none") series.add("mesh_node_discovery_known", { mode }, discovery.known ? 1 : 0);
  }

  #fillSync(ports: SidecarPorts): void {
    const series = this.#series;
    const { bytesSent, bytesReceived } = ports.traffic();
    const { framesSent, framesReceived, merged, reconciling } = ports.sync();
    series.add("mesh_node_frame_bytes_total", { direction: "sent" }, bytesSent);
    series.add("mesh_node_frame_bytes_total", { direction: "received" }, bytesReceived);
    series.add("mesh_node_frames_total", { direction: "sent" }, framesSent);
    series.add("mesh_node_frames_total", { direction: "received" }, framesReceived);
    series.add("mesh_node_changes_merged_total", {}, merged);
    series.add("mesh_node_documents_reconciling", {}, reconciling);
  }

  #fillDocuments({ documents }: SidecarPorts): void {
    const { documents: count, tombstones, bytes, fileBytes, problem } = documents.stats();
    this.#series.add("mesh_node_documents", {}, count);
    this.#series.add("mesh_node_tombstones", {}, tombstones);
    this.#series.add("mesh_node_document_bytes", {}, bytes);
    this.#series.add("mesh_node_store_file_bytes", {}, fileBytes);
    this.#series.add("mesh_node_store_failing", {}, problem === undefined ? 0 : 1);
  }
}

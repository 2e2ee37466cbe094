import type { MetricTable } from "../runtime/metrics.ts";

/** Which cluster a series speaks of: the id of the connection, and what meshes call it. */
const cluster = ["connection", "cluster"] as const;

/** Every metric of the operator. docs/reference/metrics.md says what to make of them. */
export const operatorMetrics = {
  kilo_clustermesh_leader: {
    type: "gauge",
    help: "1 while this process may write, 0 while it waits for the lease.",
    labels: [],
    atScrape: true,
  },
  kilo_clustermesh_mesh_ready: {
    type: "gauge",
    help: "1 when the mesh's Ready condition is True, else 0; reason is the condition's.",
    labels: ["mesh", "reason"],
    atScrape: true,
  },
  kilo_clustermesh_entry_known: {
    type: "gauge",
    help: "1 when the cluster behind an entry of a mesh is known, else 0 and why.",
    labels: ["mesh", "cluster", "connection", "reason"],
    atScrape: true,
  },
  kilo_clustermesh_cluster_known: {
    type: "gauge",
    help: "1 when nodes and Peers of a connected cluster are known, else 0 and why.",
    labels: [...cluster, "reason"],
    atScrape: true,
  },
  kilo_clustermesh_nodes: {
    type: "gauge",
    help: "Nodes of a cluster; absent while they are unknown.",
    labels: cluster,
    atScrape: true,
  },
  kilo_clustermesh_nodes_skipped: {
    type: "gauge",
    help: "Nodes of an entry of a mesh that are not peered, by reason.",
    labels: ["mesh", "cluster", "reason"],
    atScrape: true,
  },
  kilo_clustermesh_peers: {
    type: "gauge",
    help: "Peers of this operator that exist in a cluster; absent while they are unknown.",
    labels: cluster,
    atScrape: true,
  },
  kilo_clustermesh_peers_kept: {
    type: "gauge",
    help: "Peers of this operator that no node wants now and that stay, by reason.",
    labels: [...cluster, "reason"],
    atScrape: true,
  },
  kilo_clustermesh_peers_taken: {
    type: "gauge",
    help: "Peers that are wanted in a cluster but whose key a Peer of somebody else holds.",
    labels: cluster,
    atScrape: true,
  },
  kilo_clustermesh_legacy_orphans: {
    type: "gauge",
    help: "Peers of the Go operator in a cluster that no mesh explains.",
    labels: cluster,
    atScrape: true,
  },
  kilo_clustermesh_routes_refused: {
    type: "gauge",
    help: "Routes that are wanted in a cluster but that somebody else has.",
    labels: cluster,
    atScrape: true,
  },
  kilo_clustermesh_withdrawals_held: {
    type: "gauge",
    help: "Peers in a cluster that would go if it were proven that their node is gone.",
    labels: cluster,
    atScrape: true,
  },
  kilo_clustermesh_changes_pending: {
    type: "gauge",
    help: "Changes of Peers in a cluster that wait for others to be written first.",
    labels: cluster,
    atScrape: true,
  },
  kilo_clustermesh_leftovers_total: {
    type: "counter",
    help: "Clusters that could not be emptied when a mesh was deleted, or a Secret led elsewhere, and may hold its Peers.",
    labels: ["mesh", "cluster"],
  },
  kilo_clustermesh_credential_expiry_seconds: {
    type: "gauge",
    help: "Seconds until the credential of a cluster ends, negative afterwards; absent where it does not say.",
    labels: [...cluster, "kind"],
    atScrape: true,
  },
  kilo_clustermesh_reaction_seconds: {
    type: "histogram",
    help: "From the arrival of a change of nodes to the last Peer written for it in a cluster.",
    labels: cluster,
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  kilo_clustermesh_writes_total: {
    type: "counter",
    help: "Writes to a cluster's API besides the Lease; outcome is `written` or what refused it.",
    labels: [...cluster, "resource", "verb", "outcome"],
  },
  kilo_clustermesh_events_dropped_total: {
    type: "counter",
    help: "Events that were not written: too many, refused, or too late.",
    labels: [],
    atScrape: true,
  },
  kilo_clustermesh_reconciles_total: {
    type: "counter",
    help: "Runs of a controller by how they ended; each `failed` is followed by a retry.",
    labels: ["controller", "outcome"],
  },
  kilo_clustermesh_bugs_total: {
    type: "counter",
    help: "Runs of a controller that ended in an exception nobody expected.",
    labels: ["controller"],
  },
  kilo_clustermesh_queue_waiting: {
    type: "gauge",
    help: "Keys that wait in a controller's queue, due now or later.",
    labels: ["controller"],
    atScrape: true,
  },
  kilo_clustermesh_queue_running: {
    type: "gauge",
    help: "Keys that a controller works on now.",
    labels: ["controller"],
    atScrape: true,
  },
  kilo_clustermesh_queue_retrying: {
    type: "gauge",
    help: "Keys whose last run failed.",
    labels: ["controller"],
    atScrape: true,
  },
  kilo_clustermesh_lists_total: {
    type: "counter",
    help: "Complete lists of a resource since the cluster was connected; the first is the usual one.",
    labels: [...cluster, "resource"],
    atScrape: true,
  },
  kilo_clustermesh_watch_streams_ended_total: {
    type: "counter",
    help: "Watch streams of a resource that ended since the cluster was connected.",
    labels: [...cluster, "resource"],
    atScrape: true,
  },
  kilo_clustermesh_reads_failed_total: {
    type: "counter",
    help: "Lists and watches of a resource that failed since the cluster was connected, by kind of error.",
    labels: [...cluster, "resource", "verb", "kind"],
    atScrape: true,
  },
} as const satisfies MetricTable;

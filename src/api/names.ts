/** Every label, annotation and name that others can see. The Go operator's where it has one. */
export const group = "kilo.squat.ai";
export const version = "v1alpha1";

export const labels = {
  mesh: "kilo-clustermesh.io/mesh",
  source: "kilo-clustermesh.io/source-cluster",
  instance: "kilo-clustermesh.io/instance",
} as const;

export const annotations = {
  owners: "kilo-clustermesh.io/owners",
  node: "kilo-clustermesh.io/source-node",
  adopt: "kilo-clustermesh.io/adopt",
  touchPending: "kilo-clustermesh.io/touch-pending",
  declared: "kilo-clustermesh.io/declared-endpoint",
  move: "kilo-clustermesh.io/move",
  keepaliveMark: "kilo-clustermesh.io/node-keepalive",
} as const;

/** What Kilo and people write on Nodes. */
export const nodeAnnotations = {
  wireguardIp: "kilo.squat.ai/wireguard-ip",
  key: "kilo.squat.ai/key",
  clustermeshEndpoint: "kilo.squat.ai/clustermesh-endpoint",
  forceEndpoint: "kilo.squat.ai/force-endpoint",
  kiloEndpoint: "kilo.squat.ai/endpoint",
  discovered: "kilo.squat.ai/discovered-endpoints",
  granularity: "kilo.squat.ai/granularity",
  location: "kilo.squat.ai/location",
  keepalive: "kilo.squat.ai/persistent-keepalive",
  lastSeen: "kilo.squat.ai/last-seen",
} as const;

/** Where Kilo looks for a node's location that no annotation names. */
export const regionLabel = "topology.kubernetes.io/region";

/** Keeps a deleted ClusterMesh until its Peers are gone. */
export const finalizer = "kilo-clustermesh.io/cleanup";

/** The Go operator's Lease: it keeps the two from writing at once during a rolling upgrade. */
export const leaseName = "f27237f1.squat.ai";

/** An annotation on a ClusterMesh: a new value asks for a fresh look at its Secrets and clusters. */
export const reconcileTrigger = "reconcile-trigger";

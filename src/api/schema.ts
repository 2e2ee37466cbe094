import * as z from "zod";

/**
 * The one source of the ClusterMesh type, its runtime check and its CRD. It refuses nothing that the Go operator could
 * have stored: an object that breaks a newer rule could get neither status nor finalizer removal. The operator checks
 * the rest and says so in the `Accepted` condition.
 */
const secretRef = z
  .object({
    name: z.string().describe("Name of the Secret."),
    key: z.string().default("kubeconfig").describe("Key in the Secret that holds the kubeconfig."),
  })
  .describe("Secret in the namespace of the ClusterMesh. Not needed for the local cluster.");

const bothForms = [
  {
    rule: "has(self.allowedNetworks) || (has(self.podCIDRs) && has(self.wireguardCIDR))",
    message: "needs allowedNetworks, or podCIDRs and wireguardCIDR",
  },
];

const entry = z
  .object({
    name: z
      .string()
      .max(63)
      .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
      .describe("Name of the cluster, unique in this mesh."),
    local: z.boolean().optional().describe("True for the cluster that the operator runs in."),
    kubeconfigSecretRef: secretRef.optional(),
    allowedNetworks: z
      .array(z.string())
      .min(1)
      .optional()
      .describe("Flat form: all networks of the cluster. Counts alone where it is given."),
    podCIDRs: z.array(z.string()).min(1).optional().describe("Typed form: networks of the cluster's pods."),
    wireguardCIDR: z.string().optional().describe("Typed form: network of Kilo's WireGuard addresses (kg --subnet)."),
    serviceCIDR: z.string().optional().describe("Typed form: network of the cluster's Services."),
    additionalCIDRs: z
      .array(z.string())
      .optional()
      .describe("Typed form: further networks behind the cluster's nodes."),
    wireguardPort: z
      .int()
      .min(1)
      .max(65535)
      .default(51820)
      .describe("UDP port of WireGuard on nodes that are reached by their external IP."),
    endpointDiscovery: z
      .enum(["Auto", "Never"])
      .optional()
      .describe("Auto: an endpoint that another cluster's nodes observed is used there. Auto if absent."),
    persistentKeepalive: z
      .int()
      .min(0)
      .max(65535)
      .optional()
      .describe("Seconds. More than 0 lets Kilo follow a node whose address changes; the mesh's largest value counts."),
  })
  .meta({ "x-kubernetes-validations": bothForms });

export const clusterMeshSpec = z.object({
  deletionTimeout: z
    .string()
    .regex(/^(0|([0-9]+[hms])+)$/)
    .optional()
    .describe(
      "How long a deleted mesh waits for a cluster that does not answer, or refuses to delete its Peers, as 1h30m. " +
        "10m if absent, 0 is for ever.",
    ),
  clusters: z
    .array(entry)
    .min(2)
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] })
    .describe("Clusters of the mesh. Each receives the nodes of all the others as Peers."),
});

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

export type ClusterMeshSpec = DeepReadonly<z.output<typeof clusterMeshSpec>>;
export type ClusterMeshEntry = ClusterMeshSpec["clusters"][number];

/** What the operator came to write later is optional: a status of an earlier one must stay valid. */
const reasonRow = z.object({
  reason: z.string(),
  count: z.int(),
  examples: z.array(z.string()).optional().describe("At most five."),
});

const links = z
  .object({
    up: z.int().describe("Pairs in which a node of the other cluster reports a handshake."),
    expected: z.int().describe("Pairs in which the node has a Peer in the other cluster."),
  })
  .describe(
    "Pairs of a node of this cluster and another cluster. A handshake counts since Kilo last reset the device there, " +
      "which it does when a Peer changes: up falls then, and rises with the next handshake, within a minute or two of " +
      "traffic. Where nobody sends and no node has a keepalive, none is needed and none is reported.",
  );

const clusterStatus = z.object({
  name: z.string(),
  state: z.string().optional().describe("Known or Unknown."),
  reason: z.string().optional().describe("Why it is unknown."),
  message: z.string().optional().describe("What to do next."),
  nodes: z.int().optional(),
  registeredPeers: z.int().describe("Nodes of this cluster whose Peer exists in every other known cluster."),
  skippedNodes: z.int(),
  links: links.optional(),
  credentialExpiresAt: z
    .string()
    .optional()
    .meta({ format: "date-time" })
    .describe("When the token or client certificate in the Secret ends, where it says so."),
  skipped: z.array(reasonRow).optional().describe("Why nodes are not peered."),
  notes: z.array(reasonRow).optional().describe("What works, but not as declared, or is good to know."),
});

const condition = z.object({
  type: z.string().max(316),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().min(1).max(1024),
  message: z.string().max(32768),
  observedGeneration: z.int().min(0).optional(),
  lastTransitionTime: z.string().meta({ format: "date-time" }),
});

export const clusterMeshStatus = z.object({
  observedGeneration: z.int().optional(),
  summary: z
    .object({
      clusters: z.string().describe("Known ones of all."),
      peers: z.int(),
      skipped: z.int(),
      links: z.string().optional().describe("Up ones of those expected."),
    })
    .optional()
    .describe("What `kubectl get` shows."),
  clusters: z
    .array(clusterStatus)
    .optional()
    .describe("The status stays below 64 KiB: examples, messages and reasons go first, then the last clusters."),
  clustersLeftOut: z.int().optional().describe("Clusters that had no place above. The summary counts them."),
  ledger: z
    .array(z.object({ cluster: z.string(), kubeconfigSecretRef: secretRef.optional() }))
    .optional()
    .describe("Clusters that may hold Peers of this mesh. Without a Secret: the local one."),
  conditions: z
    .array(condition)
    .optional()
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
});

export type ClusterMeshStatus = DeepReadonly<z.output<typeof clusterMeshStatus>>;

interface Explanation {
  /** True when it usually passes by itself; false when a person has to change something. */
  readonly waits: boolean;
  /** What that person does next. */
  readonly hint: string;
}

interface SkipExplanation extends Explanation {
  /**
   * What becomes of a Peer that the node has already: `withdraw` follows from the spec and is at once; `grace` ends when
   * Kilo stays away; `keep` because the node lives and we do not know better.
   */
  readonly peer: "keep" | "grace" | "withdraw";
}

/** Why a node is not peered. The Go operator's names where it has one. */
export const skipReasons = {
  NodeNoPodCIDR: { waits: true, peer: "keep", hint: "The node has no pod CIDR yet; check spec.podCIDRs of the Node." },
  NodePodCIDROutOfRange: {
    waits: false,
    peer: "withdraw",
    hint: "The node's pod CIDR is outside the networks of its entry; correct the entry or the cluster.",
  },
  NodeNoWireguardIP: {
    waits: true,
    peer: "grace",
    hint: "Kilo has not yet written kilo.squat.ai/wireguard-ip on this node.",
  },
  WGIPInvalid: {
    waits: false,
    peer: "keep",
    hint: "kilo.squat.ai/wireguard-ip is not an address with a prefix length.",
  },
  WGIPOutOfRange: {
    waits: false,
    peer: "withdraw",
    hint: "The node's WireGuard IP is outside the networks of its entry; correct the entry or Kilo's --subnet.",
  },
  NodeNoPublicKey: { waits: true, peer: "grace", hint: "Kilo has not yet written kilo.squat.ai/key on this node." },
  NodeKeyInvalid: {
    waits: false,
    peer: "keep",
    hint: "kilo.squat.ai/key is not the base64 of 32 bytes; Kilo ignores such a Peer.",
  },
  NodeEndpointInvalid: {
    waits: false,
    peer: "keep",
    hint: "An endpoint annotation of the node is not host:port; correct or remove it.",
  },
  NodeNoEndpoint: {
    waits: false,
    peer: "keep",
    hint: "Nothing says where the node can be reached: annotate it with kilo.squat.ai/clustermesh-endpoint=HOST:PORT.",
  },
} as const satisfies Record<string, SkipExplanation>;

export type SkipReason = keyof typeof skipReasons;

/** Why a cluster is unknown to a mesh. */
export const unknownReasons = {
  SecretMissing: { waits: false, hint: "Create the Secret that kubeconfigSecretRef names, in the mesh's namespace." },
  SecretKeyMissing: { waits: false, hint: "The Secret has no such key; correct kubeconfigSecretRef.key." },
  KubeconfigInvalid: {
    waits: false,
    hint: "The kubeconfig in the Secret was refused; correct the field that is named.",
  },
  SecretUnknown: { waits: true, hint: "The Secret could not be read yet." },
  Connecting: { waits: true, hint: "The cluster's nodes have not been listed yet." },
  Unreachable: { waits: true, hint: "The cluster's API does not answer; check the server address and the network." },
  Unauthorized: { waits: false, hint: "The credentials were refused; put a valid kubeconfig into the Secret." },
  Forbidden: { waits: false, hint: "The credentials lack a right; apply deploy/remote/rbac.yaml in that cluster." },
  PeerCRDMissing: { waits: false, hint: "The cluster has no peers.kilo.squat.ai; install Kilo there." },
} as const satisfies Record<string, Explanation>;

export type UnknownReason = keyof typeof unknownReasons;

/** What is as declared, and good to know. */
export const informationReasons = {
  NodeKeepaliveMissing: {
    waits: false,
    hint: "Without Kilo's keepalive on its nodes a change of Peers can stall connections for 15 seconds. Run this command in that cluster, or give the operator the right to patch nodes there.",
  },
  NodeNoEndpoint: {
    waits: true,
    hint: "Nothing says where the node can be reached; others meet it when it comes to them. If it can be, annotate it with kilo.squat.ai/clustermesh-endpoint=HOST:PORT.",
  },
} as const satisfies Record<string, Explanation>;

/** What works, but not as somebody declared it, and information. None of these stops a mesh from being Ready. */
export const noteReasons = {
  ...informationReasons,
  EndpointDiffers: {
    waits: true,
    hint: "The target's nodes meet this node elsewhere than it says; the endpoint is being moved, or correct it.",
  },
  EntryConflict: {
    waits: false,
    hint: "Two meshes ask for this node with different settings; the first by namespace/name has its way.",
  },
  GranularityUnclear: {
    waits: true,
    hint: "Locations and their leaders do not match one to one; check kilo.squat.ai/location and Kilo's granularity.",
  },
  NodeSilent: {
    waits: true,
    hint: "Kilo on this node has given no sign for 90 seconds; check the node and its kilo pod.",
  },
  ClusterListedTwice: { waits: false, hint: "Two kubeconfigs lead to this cluster; one of them is enough." },
  ClusterReplaced: {
    waits: true,
    hint: "The Secret leads to another cluster than before; the old one is being emptied, for ten minutes at most.",
  },
  WatchForbidden: {
    waits: false,
    hint: "This right is missing there, and changes are seen after up to 30 seconds: apply deploy/remote/rbac.yaml in that cluster.",
  },
  ApiServerAddress: {
    waits: false,
    hint: "A route would cover the address of an API server that we use; declare that network if it is meant.",
  },
  OutsideAllowlist: {
    waits: false,
    hint: "A route of this node lies outside the operator's --allowed-cidr and is not written; widen that if it is meant.",
  },
  BothForms: { waits: false, hint: "The entry has both CIDR forms; only allowedNetworks counts. Remove the others." },
} as const satisfies Record<string, Explanation>;

export type NoteReason = keyof typeof noteReasons;

export const isInformation = (reason: string): boolean => reason in informationReasons;

/** Why a mesh is not Ready, or is Degraded, where no reason of a cluster or a note says it. */
export const conditionReasons = {
  ClustersUnknown: { waits: true, hint: "status.clusters says why, and what to do." },
  WritesFailed: {
    waits: true,
    hint: "Each is tried again; where a right is missing, apply deploy/remote/rbac.yaml in that cluster.",
  },
  Contested: { waits: false, hint: "Somebody else keeps undoing these Peers; find out who, and let one of you stop." },
  Syncing: { waits: true, hint: "Peers are being written there." },
  NodesSkipped: { waits: false, hint: "status.clusters[].skipped says why these nodes are not peered." },
  KeyTaken: {
    waits: false,
    hint: "A Peer that is not ours has this key; delete it, or annotate it with kilo-clustermesh.io/adopt=true.",
  },
  EndpointUnresolved: {
    waits: true,
    hint: "The name of the node's endpoint does not resolve; it has to be a full name of the DNS. Correct either.",
  },
  ClaimHeld: {
    waits: false,
    hint: "Somebody else has this route, a tunnel that ends in it, or declared it first; one of the two has to give it up.",
  },
  WithdrawalHeld: { waits: true, hint: "These Peers go as soon as it is proven that their nodes are gone." },
  CredentialEnded: { waits: false, hint: "Put a kubeconfig with a valid credential into the Secret." },
  CredentialEnding: { waits: false, hint: "Put a kubeconfig with a newer credential into the Secret before it ends." },
  PeersLeft: {
    waits: false,
    hint: "This cluster left the mesh and may hold Peers of it; give its Secret back, and let it delete Peers, until they are taken away.",
  },
  DeletionHeld: {
    waits: false,
    hint: "The deletion waits for these clusters, no longer than spec.deletionTimeout. Let them answer and delete Peers (deploy/remote/rbac.yaml), or delete the Secret that leads there to give one up.",
  },
} as const satisfies Record<string, Explanation>;

export type ConditionReason = keyof typeof conditionReasons;

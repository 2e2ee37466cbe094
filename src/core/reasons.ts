interface Explanation {
  /** True when it usually passes by itself; false when a person has to change something. */
  readonly waits: boolean;
  /** What that person does next. */
  readonly hint: string;
}

/** Why a node is not peered. The Go operator's names where it has one. */
export const skipReasons = {
  NodeNoPodCIDR: { waits: true, hint: "The node has no pod CIDR yet; check spec.podCIDRs of the Node." },
  NodePodCIDROutOfRange: {
    waits: false,
    hint: "The node's pod CIDR is outside the podCIDRs of its entry; correct the entry or the cluster.",
  },
  NodeNoWireguardIP: { waits: true, hint: "Kilo has not yet written kilo.squat.ai/wireguard-ip on this node." },
  WGIPInvalid: { waits: false, hint: "kilo.squat.ai/wireguard-ip is not an address with a prefix length." },
  WGIPOutOfRange: {
    waits: false,
    hint: "The node's WireGuard IP is outside the wireguardCIDR of its entry; correct the entry or Kilo's --subnet.",
  },
  WGIPDuplicate: { waits: true, hint: "Another node of this cluster has the same WireGuard IP; Kilo settles that." },
  NodeNoPublicKey: { waits: true, hint: "Kilo has not yet written kilo.squat.ai/key on this node." },
  NodeKeyInvalid: { waits: false, hint: "kilo.squat.ai/key is not the base64 of 32 bytes; Kilo ignores such a Peer." },
  NodeEndpointInvalid: {
    waits: false,
    hint: "An endpoint annotation of the node is not host:port; correct or remove it.",
  },
  NodeNoEndpoint: {
    waits: false,
    hint: "Nothing says where the node can be reached: annotate it with kilo.squat.ai/clustermesh-endpoint=HOST:PORT.",
  },
} as const satisfies Record<string, Explanation>;

export type SkipReason = keyof typeof skipReasons;

/** Why a cluster is unknown to a mesh. */
export const unknownReasons = {
  SecretMissing: { waits: false, hint: "Create the Secret that kubeconfigSecretRef names, in the mesh's namespace." },
  SecretKeyMissing: { waits: false, hint: "The Secret has no such key; correct kubeconfigSecretRef.key." },
  KubeconfigInvalid: { waits: false, hint: "The kubeconfig in the Secret was refused; the message says which field." },
  SecretUnknown: { waits: true, hint: "The Secret could not be read yet." },
  Connecting: { waits: true, hint: "The cluster's nodes have not been listed yet." },
  Unreachable: { waits: true, hint: "The cluster's API does not answer; check the server address and the network." },
  Unauthorized: { waits: false, hint: "The credentials were refused; put a valid kubeconfig into the Secret." },
  Forbidden: { waits: false, hint: "The credentials lack a right; apply deploy/remote/rbac.yaml in that cluster." },
  PeerCRDMissing: { waits: false, hint: "The cluster has no peers.kilo.squat.ai; install Kilo there." },
} as const satisfies Record<string, Explanation>;

export type UnknownReason = keyof typeof unknownReasons;

interface Explanation {
  /** True when it usually passes by itself; false when a person has to change something. */
  readonly waits: boolean;
  /** What that person does next. */
  readonly hint: string;
}

/** Why a member is not a peer. */
export const skipReasons = {
  IsSelf: { waits: true, hint: "It is this node." },
  NoIdentity: {
    waits: false,
    hint: "Give every node the same --shared-key, or annotate the EndpointSlice with <prefix>endpoint_id.<pod>.",
  },
  IdentityInvalid: {
    waits: false,
    hint: "The declared endpoint_id is not 64 hex digits; correct or remove it.",
  },
  NoAddress: { waits: false, hint: "None of its addresses is an IP address." },
  OtherFormation: { waits: true, hint: "It announces another formation; --app-id decides which one a node is in." },
} as const satisfies Record<string, Explanation>;

export type SkipReason = keyof typeof skipReasons;

/** What works, but not as it was declared. */
export const sliceNotes = {
  IdentityShared: {
    waits: false,
    hint: "<prefix>endpoint_id on a slice with several endpoints is ignored; use <prefix>endpoint_id.<pod>.",
  },
  NoAddress: skipReasons.NoAddress,
} as const satisfies Record<string, Explanation>;

export type SliceNote = keyof typeof sliceNotes;

/** Why discovery does not know who is there. */
export const discoveryReasons = {
  NotInCluster: {
    waits: false,
    hint: "Run in a pod with a service account, or choose another --discovery-mode.",
  },
  Starting: { waits: true, hint: "The first list is under way." },
  Unreachable: { waits: true, hint: "The API server does not answer; check the network and its certificate." },
  Unauthorized: { waits: false, hint: "The service account's token was refused." },
  Forbidden: {
    waits: false,
    hint: "Grant get, list and watch on endpointslices.discovery.k8s.io in this namespace, or correct --discovery-namespace.",
  },
  NotFound: { waits: false, hint: "The API server does not serve discovery.k8s.io/v1." },
  Refused: { waits: false, hint: "The API server refused the request; check --discovery-label-selector." },
  WatchForbidden: {
    waits: false,
    hint: "Grant watch on endpointslices.discovery.k8s.io; until then the list is read again and again.",
  },
  Throttled: { waits: true, hint: "The API server asked to come back later." },
  ServerFailed: { waits: true, hint: "The API server answered with a failure of its own." },
  MulticastFailed: { waits: true, hint: "Multicast DNS cannot be used here; check the network interface." },
  Closed: { waits: true, hint: "This node is shutting down." },
} as const satisfies Record<string, Explanation>;

export type DiscoveryReason = keyof typeof discoveryReasons;

/** Why our own id is not on our slices. */
export const publishReasons = {
  PatchForbidden: {
    waits: false,
    hint: "Grant patch on endpointslices.discovery.k8s.io in this namespace, or turn publishing off.",
  },
  PatchFailed: { waits: true, hint: "The API server did not take the annotation; it is tried again." },
  NameTooLong: {
    waits: false,
    hint: "The part of an annotation after the / has at most 63 characters: shorten the pod's name or the prefix.",
  },
} as const satisfies Record<string, Explanation>;

export type PublishReason = keyof typeof publishReasons;

/** Why there is no link to a peer that we want, or no longer one. */
export const linkReasons = {
  NoAddress: { waits: true, hint: "Nothing says where the peer is; its host name may not be resolved yet." },
  IsSelf: { waits: false, hint: "It is this node; remove it from --peer." },
  InvalidIdentity: { waits: false, hint: "The endpoint id is not an Ed25519 public key; correct it." },
  DialTimeout: { waits: true, hint: "Nobody answers; check the address, the UDP port and network policies." },
  OtherIdentity: {
    waits: false,
    hint: "Somebody with another key answers there; check the endpoint id, the shared key, or wait for a moved pod.",
  },
  OtherProtocol: { waits: false, hint: "What answers there is no mesh-node, or one of another version." },
  Unreachable: { waits: true, hint: "The network refused; check routes to the peer's addresses." },
  ConnectionLost: { waits: true, hint: "The connection broke." },
  FormationNotProven: {
    waits: false,
    hint: "The two do not have the same --app-id and shared key; this is tried again only seldom.",
  },
  NoHandshake: { waits: true, hint: "The peer accepted the connection and then did not speak in time." },
  BadProtocol: { waits: false, hint: "The peer sent what no mesh-node of this version sends." },
  Duplicate: { waits: true, hint: "Another connection to the same peer was chosen." },
  Superseded: { waits: true, hint: "A newer connection to the same peer took over." },
  PeerBusy: { waits: true, hint: "The peer shakes hands with too many at once." },
  PeerRefused: { waits: false, hint: "The peer was told to disconnect from us, or does not want us any more." },
  PeerLeaving: { waits: true, hint: "The peer is shutting down." },
  Silent: { waits: true, hint: "The peer was not heard for too long; it or the network is down." },
  TooSlow: { waits: true, hint: "The peer does not read what it is sent." },
  RefusedFrame: { waits: false, hint: "One side got a message that it does not accept and closed the link." },
  NotWanted: { waits: true, hint: "We closed the link: the peer left, or DisconnectPeer was called." },
  TransportClosed: { waits: true, hint: "This node is shutting down." },
} as const satisfies Record<string, Explanation>;

export type LinkReason = keyof typeof linkReasons;

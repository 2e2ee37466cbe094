import type { EndpointId } from "../identity.ts";

/** Why a connection was closed, as both sides say it. */
export const closeCodes = {
  leaving: 0,
  formationNotProven: 1,
  duplicate: 2,
  silent: 3,
  badProtocol: 4,
  superseded: 5,
  notWanted: 6,
  busy: 7,
  refusedFrame: 8,
  tooSlow: 9,
} as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

export interface ListenOptions {
  /** The 32 bytes that the endpoint id comes from. */
  readonly seed: Uint8Array;
  /** `ip:port`, port 0 for any. */
  readonly address: string;
  /** Only connections that speak this protocol are made or accepted. */
  readonly protocol: string;
}

export interface DialTarget {
  readonly id: EndpointId;
  /** `ip:port`, IPv6 in brackets. All are tried at once. */
  readonly addresses: readonly string[];
}

/** One endpoint that dials and is dialed. The remote id of every connection is proven by the transport. */
export interface Transport {
  readonly id: EndpointId;
  /** The bound `ip:port`, with the real port. */
  readonly address: string;
  /** Rejects with a TransportError, at the latest after `timeoutMs`; a connection that comes later is closed. */
  dial(target: DialTarget, timeoutMs: number): Promise<Connection>;
  /** The next inbound connection; undefined when the transport is closed. */
  accept(): Promise<Connection | undefined>;
  /** Closes every connection and ends `accept`. */
  close(): Promise<void>;
}

export interface Connection {
  readonly remote: EndpointId;
  /** Where the peer is reached now, if known. */
  address(): string | undefined;
  /** The other side sees the stream only when the first byte was written. Rejects with a TransportError. */
  openStream(): Promise<ByteStream>;
  acceptStream(): Promise<ByteStream>;
  close(code: CloseCode): void;
  /** Never rejects. */
  readonly closed: Promise<Closing>;
}

export interface ByteStream {
  /** In the order of the calls. Resolves when the transport took the bytes, which waits for a slow reader. */
  write(bytes: Uint8Array): Promise<void>;
  /** Between 1 and `maxBytes` bytes; undefined at the end. Only one read at a time. */
  read(maxBytes: number): Promise<Uint8Array | undefined>;
}

/** How a connection ended. `lost` is what nobody said goodbye to. */
export type Closing =
  | { readonly by: "us" }
  | { readonly by: "peer"; readonly code: number }
  | { readonly by: "lost"; readonly detail: string };

export type TransportFailure =
  | "NoAddress"
  | "IsSelf"
  | "InvalidIdentity"
  | "DialTimeout"
  | "OtherIdentity"
  | "OtherProtocol"
  | "Unreachable"
  | "ConnectionLost"
  | "TransportClosed";

/** What the network refused. The message is one line and carries no secret. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly failure: TransportFailure;

  constructor(failure: TransportFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

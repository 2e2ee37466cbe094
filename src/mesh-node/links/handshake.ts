import { randomBytes } from "node:crypto";
import type { Clock } from "../../runtime/clock.ts";
import { DeadlineError, withDeadline } from "../../runtime/deadline.ts";
import type { EndpointId } from "../identity.ts";
import type { LinkReason } from "../reasons.ts";
import { FrameError, type FrameStream, framesOn } from "../transport/frames.ts";
import { type CloseCode, type Connection, closeCodes, TransportError } from "../transport/transport.ts";
import { reasonOfClosing } from "./close-reasons.ts";
import { type Formation, isProven, nonceBytes, proofOf, type Role, type Transcript } from "./formation.ts";
import {
  type Adoption,
  decodeGreeting,
  encodeGreeting,
  type Greeting,
  type GreetingKind,
  maxGreetingBytes,
} from "./greeting.ts";

/** Who of a pair is linked over which connection. Both are called when the formation is proven both ways. */
export interface Seating {
  /** What we hold now, told to the peer. */
  held(): Adoption | undefined;
  /** On the side that decides: the adoption of this connection, or nothing when another one stays. */
  decide(peerHolds: Adoption | undefined): Adoption | undefined;
  /** On the other side: takes the connection, unless a later one was adopted already. */
  follow(adoption: Adoption): boolean;
}

export interface HandshakeOptions {
  readonly self: EndpointId;
  readonly formation: Formation;
  readonly role: Role;
  readonly seating: Seating;
  readonly clock: Clock;
  readonly withinMs: number;
}

/** A connection that was adopted: its streams for us and for the handler. */
export interface Shaken {
  readonly control: FrameStream;
  readonly data: FrameStream;
}

/** Why a connection did not become a link. The connection is closed. */
export class HandshakeError extends Error {
  override readonly name = "HandshakeError";
  readonly reason: LinkReason;

  constructor(reason: LinkReason) {
    super(`no link: ${reason}`);
    this.reason = reason;
  }
}

/** Proves the formation both ways and agrees on the connection of the pair. Rejects with a HandshakeError alone. */
export async function shakeHands(connection: Connection, options: HandshakeOptions): Promise<Shaken> {
  const { clock, withinMs: ms, role } = options;
  try {
    return await withDeadline({ clock, ms }, (signal) =>
      role === "dialer" ? asDialer(connection, { ...options, signal }) : asAcceptor(connection, { ...options, signal }),
    );
  } catch (error) {
    throw new HandshakeError(await closeAfter(connection, reasonOf(error)));
  }
}

interface Shaking extends HandshakeOptions {
  readonly signal: AbortSignal;
}

/** The dialer proves itself first: whoever only knows our address gets nothing made with the key. */
async function asDialer(connection: Connection, options: Shaking): Promise<Shaken> {
  const { self, formation, seating } = options;
  const control = framesOn(await connection.openStream());
  const dialerNonce = randomBytes(nonceBytes);
  await say(control, { kind: "hello", nonce: dialerNonce });
  const { nonce: acceptorNonce } = await hear(control, "challenge");
  const transcript = { dialer: self, acceptor: connection.remote, dialerNonce, acceptorNonce };
  await say(control, { kind: "dialer", proof: proofOf(formation, "dialer", transcript), held: seating.held() });
  const answer = await hear(control, "acceptor");
  requireProof(answer.proof, proofOf(formation, "acceptor", transcript));
  await agree(control, connection.remote, { ...options, peerHolds: answer.held });
  const data = framesOn(await connection.openStream());
  await data.send(new Uint8Array());
  return { control, data };
}

/** The first, empty frame of the data says that the dialer has accepted our proof. */
async function asAcceptor(connection: Connection, options: Shaking): Promise<Shaken> {
  const { self, formation, seating } = options;
  const control = framesOn(await connection.acceptStream());
  const { nonce: dialerNonce } = await hear(control, "hello");
  const acceptorNonce = randomBytes(nonceBytes);
  await say(control, { kind: "challenge", nonce: acceptorNonce });
  const transcript: Transcript = { dialer: connection.remote, acceptor: self, dialerNonce, acceptorNonce };
  const claim = await hear(control, "dialer");
  requireProof(claim.proof, proofOf(formation, "dialer", transcript));
  await say(control, { kind: "acceptor", proof: proofOf(formation, "acceptor", transcript), held: seating.held() });
  await agree(control, connection.remote, { ...options, peerHolds: claim.held });
  const data = framesOn(await connection.acceptStream());
  if ((await data.receive(0)) === undefined) throw new HandshakeError("BadProtocol");
  return { control, data };
}

interface Agreement extends Shaking {
  readonly peerHolds: Adoption | undefined;
}

/** After the deadline nobody may take a seat: the connection is closed already. */
async function agree(control: FrameStream, remote: EndpointId, agreement: Agreement): Promise<void> {
  const { self, seating, peerHolds, signal } = agreement;
  if (self < remote) {
    signal.throwIfAborted();
    const adoption = seating.decide(peerHolds);
    if (!adoption) throw new HandshakeError("Duplicate");
    return say(control, { kind: "adopted", adoption });
  }
  const { adoption } = await hear(control, "adopted");
  signal.throwIfAborted();
  if (!seating.follow(adoption)) throw new HandshakeError("Duplicate");
}

const say = (control: FrameStream, greeting: Greeting): Promise<void> => control.send(encodeGreeting(greeting));

async function hear<Kind extends GreetingKind>(
  control: FrameStream,
  kind: Kind,
): Promise<Extract<Greeting, { kind: Kind }>> {
  const frame = await control.receive(maxGreetingBytes);
  const greeting = frame && decodeGreeting(kind, frame);
  if (!greeting) throw new HandshakeError("BadProtocol");
  return greeting;
}

function requireProof(proof: Uint8Array, expected: Uint8Array): void {
  if (!isProven(proof, expected)) throw new HandshakeError("FormationNotProven");
}

function reasonOf(error: unknown): LinkReason {
  if (error instanceof HandshakeError) return error.reason;
  if (error instanceof TransportError) return error.failure;
  if (error instanceof FrameError) return "BadProtocol";
  if (error instanceof DeadlineError) return "NoHandshake";
  throw error;
}

const codes: Partial<Record<LinkReason, CloseCode>> = {
  FormationNotProven: closeCodes.formationNotProven,
  Duplicate: closeCodes.duplicate,
  NoHandshake: closeCodes.silent,
};

/** What the peer said when it closed first explains more than what broke here. */
async function closeAfter(connection: Connection, reason: LinkReason): Promise<LinkReason> {
  connection.close(codes[reason] ?? closeCodes.badProtocol);
  const closing = await connection.closed;
  return closing.by === "peer" ? reasonOfClosing(closing) : reason;
}

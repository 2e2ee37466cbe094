import type { EndpointId } from "../identity.ts";
import { MemoryPipe } from "./memory-pipe.ts";
import { type ByteStream, type CloseCode, type Closing, type Connection, TransportError } from "./transport.ts";

export interface MemorySide {
  readonly id: EndpointId;
  readonly address: string;
}

/** The way between two endpoints: resolves when something that left now arrives; never while they are cut apart. */
export type Carry = () => Promise<void>;

/** Both ends of one connection; the dialer's comes first. */
export function connectInMemory(dialer: MemorySide, acceptor: MemorySide, carry: Carry): [MemoryEnd, MemoryEnd] {
  const near = new MemoryEnd(acceptor, carry);
  const far = new MemoryEnd(dialer, carry);
  near.join(far);
  far.join(near);
  return [near, far];
}

export class MemoryEnd implements Connection {
  readonly remote: EndpointId;
  readonly closed: Promise<Closing>;
  readonly #address: string;
  readonly #carry: Carry;
  readonly #streams: Pipes[] = [];
  readonly #arrived: ByteStream[] = [];
  readonly #waiting = new Set<() => void>();
  #other: MemoryEnd | undefined;
  #closing: Closing | undefined;
  #tellClosed: (closing: Closing) => void = () => undefined;

  constructor(remote: MemorySide, carry: Carry) {
    this.remote = remote.id;
    this.#address = remote.address;
    this.#carry = carry;
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve;
    });
  }

  join(other: MemoryEnd): void {
    this.#other = other;
  }

  address(): string {
    return this.#address;
  }

  async openStream(): Promise<ByteStream> {
    this.#throwIfClosed();
    const incoming = new MemoryPipe(this.#carry);
    const outgoing = new MemoryPipe(this.#carry, () => this.#other?.arrive({ incoming: outgoing, outgoing: incoming }));
    return this.#stream({ incoming, outgoing });
  }

  async acceptStream(): Promise<ByteStream> {
    while (this.#arrived.length === 0) {
      this.#throwIfClosed();
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    this.#throwIfClosed();
    return this.#arrived.shift() as ByteStream;
  }

  close(code: CloseCode): void {
    if (this.#closing) return;
    this.end({ by: "us" });
    void this.#carry().then(() => this.#other?.end({ by: "peer", code }));
  }

  /** Ends this side alone. */
  end(closing: Closing): void {
    if (this.#closing) return;
    this.#closing = closing;
    for (const { incoming, outgoing } of this.#streams) {
      incoming.endReading(lost(closing));
      outgoing.endWriting(lost(closing));
    }
    this.#tellClosed(closing);
    this.#wake();
  }

  arrive(pipes: Pipes): void {
    this.#arrived.push(this.#stream(pipes));
    this.#wake();
  }

  #stream(pipes: Pipes): ByteStream {
    const { incoming, outgoing } = pipes;
    this.#streams.push(pipes);
    return { write: (bytes) => outgoing.write(bytes), read: (maxBytes) => incoming.read(maxBytes) };
  }

  #throwIfClosed(): void {
    if (this.#closing) throw lost(this.#closing);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

interface Pipes {
  readonly incoming: MemoryPipe;
  readonly outgoing: MemoryPipe;
}

function lost(closing: Closing): TransportError {
  return new TransportError("ConnectionLost", `the connection was closed (${closing.by})`);
}

import type * as Iroh from "@number0/iroh/index.js";
import type { EndpointId } from "../identity.ts";
import { plainCause } from "./iroh-errors.ts";
import { type ByteStream, type CloseCode, type Closing, type Connection, TransportError } from "./transport.ts";

/** Bytes cross into the library as arrays of numbers, eight times their size: in pieces, one at a time. */
const pieceBytes = 64 * 1024;

export class IrohConnection implements Connection {
  readonly remote: EndpointId;
  readonly closed: Promise<Closing>;
  readonly #connection: Iroh.Connection;

  constructor(connection: Iroh.Connection) {
    this.#connection = connection;
    this.remote = connection.remoteId().toString() as EndpointId;
    this.closed = connection.closed().then(parseClosing, (error) => ({ by: "lost", detail: plainCause(error) }));
  }

  address(): string | undefined {
    const paths = this.#connection.paths().filter(({ isIp }) => isIp);
    // After a peer came back from elsewhere the library may select none for a long time.
    return (paths.find(({ isSelected }) => isSelected) ?? paths[0])?.remoteAddr;
  }

  async openStream(): Promise<ByteStream> {
    return new IrohStream(await this.#connection.openBi().catch(lost));
  }

  async acceptStream(): Promise<ByteStream> {
    return new IrohStream(await this.#connection.acceptBi().catch(lost));
  }

  close(code: CloseCode): void {
    this.#connection.close(BigInt(code), []);
  }
}

/** The library does not keep the order of writes that overlap. */
class IrohStream implements ByteStream {
  readonly #send: Iroh.SendStream;
  readonly #receive: Iroh.RecvStream;
  #written: Promise<void> = Promise.resolve();

  constructor(stream: Iroh.BiStream) {
    this.#send = stream.send;
    this.#receive = stream.recv;
  }

  write(bytes: Uint8Array): Promise<void> {
    const written = this.#written.then(() => this.#writePieces(bytes));
    this.#written = written;
    written.catch(() => undefined);
    return written;
  }

  async read(maxBytes: number): Promise<Uint8Array | undefined> {
    const bytes = await this.#receive.read(maxBytes).catch(lost);
    return bytes.length > 0 ? Uint8Array.from(bytes) : undefined;
  }

  async #writePieces(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += pieceBytes)
      await this.#send.writeAll(numbersIn(bytes, at, Math.min(at + pieceBytes, bytes.length))).catch(lost);
  }
}

/** Four times as fast as `Array.from`: this is where large frames spend their time. */
function numbersIn(bytes: Uint8Array, from: number, to: number): number[] {
  const numbers = new Array<number>(to - from);
  for (let at = from; at < to; at++) numbers[at - from] = bytes[at] ?? 0;
  return numbers;
}

function lost(error: unknown): never {
  throw new TransportError("ConnectionLost", plainCause(error));
}

/** The library tells how a connection ended as a sentence. */
export function parseClosing(text: string): Closing {
  if (text === "closed") return { by: "us" };
  const code = /^closed by peer: (?:.*\(code (\d+)\)|(\d+))$/s.exec(text);
  if (code) return { by: "peer", code: Number(code[1] ?? code[2]) };
  return { by: "lost", detail: plainCause(text) };
}

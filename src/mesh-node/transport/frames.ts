import type { ByteStream } from "./transport.ts";

/** Whole messages on a stream of bytes: four bytes of length, then the frame. */
export interface FrameStream {
  /** In the order of the calls. */
  send(frame: Uint8Array): Promise<void>;
  /** The next frame; undefined at the end of the stream. Rejects with a FrameError what is longer or cut off. */
  receive(maxBytes: number): Promise<Uint8Array | undefined>;
}

/** What the peer sent is not a frame: the stream cannot be read on. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

const headerBytes = 4;
const readBytes = 64 * 1024;

export function framesOn(stream: ByteStream): FrameStream {
  const input = new Input(stream);
  return {
    send: (frame) => sendFrame(stream, frame),
    receive: (maxBytes) => receiveFrame(input, maxBytes),
  };
}

/** Both writes are begun in the same turn, so that no other frame comes between them. */
async function sendFrame(stream: ByteStream, frame: Uint8Array): Promise<void> {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(frame.length);
  if (frame.length <= readBytes) return stream.write(Buffer.concat([header, frame]));
  await Promise.all([stream.write(header), stream.write(frame)]);
}

async function receiveFrame(input: Input, maxBytes: number): Promise<Uint8Array | undefined> {
  const header = await input.take(headerBytes);
  if (header === undefined) return undefined;
  const length = header.readUInt32BE();
  if (length > maxBytes) throw new FrameError(`a frame of ${length} bytes came where ${maxBytes} are allowed`);
  if (length === 0) return new Uint8Array();
  const frame = await input.take(length);
  if (frame === undefined) throw new FrameError("the stream ended inside a frame");
  return frame;
}

/** Grows only with what really arrived: a length that was only announced costs nothing. */
class Input {
  readonly #stream: ByteStream;
  #chunks: Uint8Array[] = [];
  #available = 0;

  constructor(stream: ByteStream) {
    this.#stream = stream;
  }

  /** Exactly so many bytes; undefined when the stream ends before the first. */
  async take(bytes: number): Promise<Buffer | undefined> {
    while (this.#available < bytes) {
      const chunk = await this.#stream.read(readBytes);
      if (chunk === undefined) return this.#atEnd();
      this.#chunks.push(chunk);
      this.#available += chunk.length;
    }
    const all = Buffer.concat(this.#chunks, this.#available);
    this.#chunks = bytes < all.length ? [all.subarray(bytes)] : [];
    this.#available -= bytes;
    return all.subarray(0, bytes);
  }

  #atEnd(): undefined {
    if (this.#available > 0) throw new FrameError("the stream ended inside a frame");
    return undefined;
  }
}

import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { EndpointId } from "../identity.ts";
import type { LinkReason } from "../reasons.ts";
import { FrameError, type FrameStream } from "../transport/frames.ts";
import { type CloseCode, type Connection, closeCodes } from "../transport/transport.ts";
import { reasonOfClosing } from "./close-reasons.ts";
import type { Shaken } from "./handshake.ts";
import { type Link, type LinkHandler, type LinkInfo, maxFrameBytes, type Traffic } from "./link.ts";
import { fallsSilent } from "./liveness.ts";

export interface LinkParts {
  readonly connection: Connection;
  readonly streams: Shaken;
  readonly direction: Link["direction"];
  readonly handler: LinkHandler;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called once, after the handler's `down`. */
  readonly onDown: (reason: LinkReason) => void;
}

/** What may wait for a peer that reads slower than we send. More ends the link. */
export const maxQueuedBytes = 4 * maxFrameBytes;
const maxBeatBytes = 64;

/** A link with its life: what runs on it, how it ends. */
export class LiveLink implements Link {
  readonly peer: EndpointId;
  readonly direction: Link["direction"];
  readonly since: Date;
  readonly #parts: LinkParts;
  readonly #sinceMs: number;
  readonly #ending = new AbortController();
  #state: "new" | "up" | "down" = "new";
  #wasHeard = true;
  #isBeating = false;
  #queuedBytes = 0;
  #bytesSent = 0;
  #bytesReceived = 0;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.peer = parts.connection.remote;
    this.direction = parts.direction;
    this.since = parts.clock.date();
    this.#sinceMs = parts.clock.now();
  }

  /** Tells the handler, then reads and watches until the link ends. */
  start(): void {
    const { connection, handler, clock, streams } = this.#parts;
    this.#state = "up";
    this.#guard("up", () => handler.up(this));
    void connection.closed.then((closing) => this.end(reasonOfClosing(closing), closeCodes.leaving));
    void this.#readFrames(streams.data);
    void this.#readBeats(streams.control);
    const watch = { clock, signal: this.#ending.signal, wasHeard: () => this.#takeHeard(), beat: () => this.#beat() };
    void fallsSilent(watch).then((isSilent) => isSilent && this.end("Silent", closeCodes.silent));
  }

  async send(frame: Uint8Array): Promise<void> {
    if (frame.length > maxFrameBytes)
      throw new Error(`a frame has at most ${maxFrameBytes} bytes, not ${frame.length}`);
    if (this.#state === "down") throw new Error("the link is closed");
    if (this.#queuedBytes + frame.length > maxQueuedBytes) {
      this.end("TooSlow", closeCodes.tooSlow);
      throw new Error("the peer is too slow for what it is sent");
    }
    this.#queuedBytes += frame.length;
    try {
      await this.#parts.streams.data.send(frame);
      this.#bytesSent += frame.length;
    } finally {
      this.#queuedBytes -= frame.length;
    }
  }

  close(problem?: string): void {
    if (problem !== undefined && this.#state !== "down")
      this.#parts.log.warn("link refused by its handler", { peer: this.peer, problem });
    if (problem === undefined) this.end("NotWanted", closeCodes.notWanted);
    else this.end("RefusedFrame", closeCodes.refusedFrame);
  }

  /** Ends the link for a reason of ours; only the first call counts. */
  end(reason: LinkReason, code: CloseCode): void {
    const { connection, handler, onDown } = this.#parts;
    const wasUp = this.#state === "up";
    if (this.#state === "down") return;
    this.#state = "down";
    this.#ending.abort();
    connection.close(code);
    if (wasUp) this.#guard("down", () => handler.down(this));
    onDown(reason);
  }

  info(): LinkInfo {
    const address = this.#parts.connection.address();
    const { peer, direction, since } = this;
    return { peer, direction, since, ...(address !== undefined && { address }), traffic: this.traffic() };
  }

  lastedMs(): number {
    return this.#parts.clock.now() - this.#sinceMs;
  }

  traffic(): Traffic {
    return { bytesSent: this.#bytesSent, bytesReceived: this.#bytesReceived };
  }

  async #readFrames(data: FrameStream): Promise<void> {
    const { handler } = this.#parts;
    try {
      for (let frame = await data.receive(maxFrameBytes); frame; frame = await data.receive(maxFrameBytes)) {
        if (this.#state !== "up") return;
        this.#wasHeard = true;
        this.#bytesReceived += frame.length;
        await this.#handle(() => handler.receive(this, frame));
      }
      this.end("ConnectionLost", closeCodes.badProtocol);
    } catch (error) {
      this.#endBroken(error);
    }
  }

  /** Whatever comes here says only that the peer is there. It is read also while the handler is busy. */
  async #readBeats(control: FrameStream): Promise<void> {
    try {
      while ((await control.receive(maxBeatBytes)) !== undefined) this.#wasHeard = true;
    } catch (error) {
      this.#endBroken(error);
    }
  }

  /** A connection that broke says why in `closed`; only what is no frame has to be ended here. */
  #endBroken(error: unknown): void {
    if (error instanceof FrameError) this.end("BadProtocol", closeCodes.badProtocol);
  }

  #beat(): void {
    if (this.#isBeating) return;
    this.#isBeating = true;
    const done = () => {
      this.#isBeating = false;
    };
    this.#parts.streams.control.send(new Uint8Array()).then(done, () => undefined);
  }

  #takeHeard(): boolean {
    const wasHeard = this.#wasHeard;
    this.#wasHeard = false;
    return wasHeard;
  }

  async #handle(work: () => void | Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#refuse("receive", error);
    }
  }

  #guard(step: "up" | "down", work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#refuse(step, error);
    }
  }

  #refuse(step: string, error: unknown): void {
    const stack = error instanceof Error ? error.stack : String(error);
    if (this.#state === "up") this.#parts.log.error("link handler failed", { peer: this.peer, step, stack });
    this.end("RefusedFrame", closeCodes.refusedFrame);
  }
}

import type { Clock } from "../../runtime/clock.ts";
import { type EndpointId, endpointIdOf } from "../identity.ts";
import { connectInMemory, type MemoryEnd } from "./memory-connection.ts";
import { closeCodes, type DialTarget, type ListenOptions, type Transport, TransportError } from "./transport.ts";

export interface MemoryNetworkOptions {
  readonly clock: Clock;
  /** How long the next message is on its way. Messages of different streams may overtake each other. */
  readonly latencyMs?: () => number;
}

/** A connection that hears nothing for so long is lost, as with the real transport. */
const idleTimeoutMs = 30_000;
const dialAgainMs = 250;

/** Endpoints in one process, and a network between them that a test can cut. */
export class MemoryNetwork {
  readonly clock: Clock;
  readonly latencyMs: () => number;
  readonly #bound = new Map<string, MemoryTransport>();
  readonly #cuts = new Map<string, Healing>();
  readonly #ends: { readonly between: string; readonly ends: readonly MemoryEnd[] }[] = [];
  #lastPort = 20_000;

  constructor({ clock, latencyMs = () => 0 }: MemoryNetworkOptions) {
    this.clock = clock;
    this.latencyMs = latencyMs;
  }

  async listen(options: ListenOptions): Promise<Transport> {
    const address = options.address.replace(/:0$/, () => `:${++this.#lastPort}`);
    if (this.#bound.has(address)) throw new Error(`cannot listen on ${address}: it is in use`);
    const transport = new MemoryTransport(this, { ...options, address });
    this.#bound.set(address, transport);
    return transport;
  }

  /** Nothing arrives between the two until `heal`. Nobody is told. */
  cut(one: EndpointId, other: EndpointId): void {
    const between = pairOf(one, other);
    if (this.#cuts.has(between)) return;
    const healing = startHealing();
    this.#cuts.set(between, healing);
    this.clock.sleep(idleTimeoutMs, healing.signal).then(
      () => this.#loseAll(between),
      () => undefined,
    );
  }

  heal(one: EndpointId, other: EndpointId): void {
    const between = pairOf(one, other);
    this.#cuts.get(between)?.heal();
    this.#cuts.delete(between);
  }

  /** The process behind the endpoint is gone without a word; its address is free. */
  crash(transport: Transport): void {
    if (!(transport instanceof MemoryTransport)) throw new Error("only an endpoint of this network can crash");
    this.unbind(transport);
    transport.vanish();
  }

  find(from: MemoryTransport, address: string): MemoryTransport | undefined {
    const found = this.#bound.get(address);
    return found && !this.#cuts.has(pairOf(from.id, found.id)) ? found : undefined;
  }

  unbind(transport: MemoryTransport): void {
    if (this.#bound.get(transport.address) === transport) this.#bound.delete(transport.address);
  }

  /** Both ends of a new connection, the dialer's first. */
  join(dialer: MemoryTransport, acceptor: MemoryTransport): [MemoryEnd, MemoryEnd] {
    const between = pairOf(dialer.id, acceptor.id);
    const carry = async (): Promise<void> => {
      await this.clock.sleep(this.latencyMs());
      await this.#cuts.get(between)?.healed;
      if (dialer.isGone || acceptor.isGone) await new Promise<never>(() => undefined);
    };
    const ends = connectInMemory(dialer, acceptor, carry);
    this.#ends.push({ between, ends });
    return ends;
  }

  #loseAll(between: string): void {
    for (const pair of this.#ends)
      if (pair.between === between) for (const end of pair.ends) end.end({ by: "lost", detail: "timed out" });
  }
}

class MemoryTransport implements Transport {
  readonly id: EndpointId;
  readonly address: string;
  readonly protocol: string;
  readonly #network: MemoryNetwork;
  readonly #ends: { readonly own: MemoryEnd; readonly other: MemoryEnd }[] = [];
  readonly #arrived: MemoryEnd[] = [];
  readonly #accepters: ((end: MemoryEnd | undefined) => void)[] = [];
  readonly #ending = new AbortController();
  #gone = false;

  constructor(network: MemoryNetwork, { seed, address, protocol }: ListenOptions) {
    this.#network = network;
    this.id = endpointIdOf(seed);
    this.address = address;
    this.protocol = protocol;
  }

  get isGone(): boolean {
    return this.#gone;
  }

  async dial(target: DialTarget, timeoutMs: number): Promise<MemoryEnd> {
    if (target.id === this.id) throw new TransportError("IsSelf", "an endpoint does not dial itself");
    if (target.addresses.length === 0) throw new TransportError("NoAddress", "the peer has no address");
    const { clock, latencyMs } = this.#network;
    const deadline = clock.now() + timeoutMs;
    await this.#sleep(latencyMs());
    for (;;) {
      const other = this.#answering(target);
      if (other) return this.#join(other);
      if (clock.now() >= deadline) throw new TransportError("DialTimeout", `no answer within ${timeoutMs} ms`);
      await this.#sleep(Math.min(dialAgainMs, deadline - clock.now()));
    }
  }

  async accept(): Promise<MemoryEnd | undefined> {
    const ready = this.#arrived.shift();
    if (ready || this.#ending.signal.aborted) return ready;
    return new Promise((resolve) => this.#accepters.push(resolve));
  }

  async close(): Promise<void> {
    if (!this.#gone) for (const { own } of this.#ends) own.close(closeCodes.leaving);
    this.#stop();
    this.#network.unbind(this);
  }

  /** Nobody hears of it before the idle timeout. */
  vanish(): void {
    this.#gone = true;
    this.#stop();
    for (const { own, other } of this.#ends) {
      own.end({ by: "lost", detail: "crashed" });
      const notice = () => other.end({ by: "lost", detail: "timed out" });
      void this.#network.clock.sleep(idleTimeoutMs).then(notice);
    }
  }

  async #sleep(ms: number): Promise<void> {
    try {
      await this.#network.clock.sleep(ms, this.#ending.signal);
    } catch {
      throw new TransportError("TransportClosed", "the endpoint is closed");
    }
  }

  #stop(): void {
    this.#ending.abort();
    for (const give of this.#accepters.splice(0)) give(undefined);
  }

  #answering(target: DialTarget): MemoryTransport | undefined {
    const answering = target.addresses.flatMap((address) => this.#network.find(this, address) ?? []);
    const right = answering.find(({ id }) => id === target.id);
    if (!right && answering.length > 0) throw new TransportError("OtherIdentity", "somebody with another key answered");
    if (right && right.protocol !== this.protocol)
      throw new TransportError("OtherProtocol", "the peer does not speak our protocol");
    return right;
  }

  #join(other: MemoryTransport): MemoryEnd {
    const [own, far] = this.#network.join(this, other);
    this.#ends.push({ own, other: far });
    other.#arrive(far, own);
    return own;
  }

  #arrive(own: MemoryEnd, other: MemoryEnd): void {
    this.#ends.push({ own, other });
    const give = this.#accepters.shift();
    if (give) give(own);
    else this.#arrived.push(own);
  }
}

interface Healing {
  readonly healed: Promise<void>;
  readonly signal: AbortSignal;
  heal(): void;
}

function startHealing(): Healing {
  const ending = new AbortController();
  const healed = new Promise<void>((resolve) => ending.signal.addEventListener("abort", () => resolve()));
  return { healed, signal: ending.signal, heal: () => ending.abort() };
}

function pairOf(one: EndpointId, other: EndpointId): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}

import { isIP } from "node:net";
import type * as Iroh from "@number0/iroh/index.js";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { DeadlineError, withDeadline } from "../../runtime/deadline.ts";
import type { EndpointId } from "../identity.ts";
import { IrohConnection } from "./iroh-connection.ts";
import { dialFailure, plainCause } from "./iroh-errors.ts";
import { closeCodes, type DialTarget, type ListenOptions, type Transport, TransportError } from "./transport.ts";

/** Inbound connections that have not finished their TLS handshake. More are refused. */
const maxHandshakes = 64;

/**
 * An endpoint on a UDP port, without relays and without any lookup of its own. On `0.0.0.0` or `[::]` with a port it
 * listens in both families, where the machine has both: a peer may know either address.
 */
export async function listenIroh(options: ListenOptions, clock: Clock = systemClock): Promise<Transport> {
  const iroh = await loadIroh();
  const { address, protocol } = options;
  try {
    const endpoint = await bindBoth(iroh, options).catch(() => bind(iroh, options, [address]));
    return new IrohTransport(iroh, endpoint, { address: boundAddress(endpoint, address), protocol, clock });
  } catch (error) {
    throw new Error(`cannot listen on UDP ${address}: ${plainCause(error)}`);
  }
}

async function bindBoth(iroh: typeof Iroh, options: ListenOptions): Promise<Iroh.Endpoint> {
  const [, port] = /^(?:0\.0\.0\.0|\[::\]):([1-9]\d*)$/.exec(options.address) ?? [];
  return bind(iroh, options, port ? [`0.0.0.0:${port}`, `[::]:${port}`] : [options.address]);
}

async function bind(iroh: typeof Iroh, options: ListenOptions, addresses: readonly string[]): Promise<Iroh.Endpoint> {
  const builder = iroh.Endpoint.builder();
  iroh.presetMinimal(builder);
  builder.relayMode(iroh.RelayMode.disabled());
  builder.secretKey(Array.from(options.seed));
  builder.alpns([bytesOf(options.protocol)]);
  for (const address of addresses) builder.bindAddr(address);
  return builder.bind();
}

/** The library opens a socket of the other family too, on a port of its own choice. */
function boundAddress(endpoint: Iroh.Endpoint, wanted: string): string {
  const sockets = endpoint.boundSockets();
  return sockets.find((socket) => socket.startsWith("[") === wanted.startsWith("[")) ?? sockets[0] ?? "";
}

/** The package names a folder it does not ship as its entry: only the deep path loads without a warning. */
async function loadIroh(): Promise<typeof Iroh> {
  try {
    return await import("@number0/iroh/index.js");
  } catch (error) {
    throw new Error(`the iroh module cannot be loaded on this platform: ${plainCause(error)}`);
  }
}

interface EndpointSettings {
  readonly address: string;
  readonly protocol: string;
  readonly clock: Clock;
}

class IrohTransport implements Transport {
  readonly id: EndpointId;
  readonly address: string;
  readonly #iroh: typeof Iroh;
  readonly #endpoint: Iroh.Endpoint;
  readonly #settings: EndpointSettings;
  readonly #arrived: IrohConnection[] = [];
  readonly #accepters: ((connection: IrohConnection | undefined) => void)[] = [];
  readonly #accepting: Promise<void>;
  #handshakes = 0;
  #closed = false;

  constructor(iroh: typeof Iroh, endpoint: Iroh.Endpoint, settings: EndpointSettings) {
    this.#iroh = iroh;
    this.#endpoint = endpoint;
    this.#settings = settings;
    this.id = endpoint.id().toString() as EndpointId;
    this.address = settings.address;
    this.#accepting = this.#acceptAll();
  }

  async dial(target: DialTarget, timeoutMs: number): Promise<IrohConnection> {
    if (this.#closed) throw new TransportError("TransportClosed", "the endpoint is closed");
    const connecting = this.#connect(target);
    try {
      return await withDeadline({ clock: this.#settings.clock, ms: timeoutMs }, () => connecting);
    } catch (error) {
      connecting.then(
        (late) => late.close(closeCodes.leaving),
        () => undefined,
      );
      throw error instanceof DeadlineError
        ? new TransportError("DialTimeout", `no answer within ${timeoutMs} ms`)
        : dialFailure(error);
    }
  }

  async accept(): Promise<IrohConnection | undefined> {
    const ready = this.#arrived.shift();
    if (ready || this.#closed) return ready;
    return new Promise((resolve) => this.#accepters.push(resolve));
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const give of this.#accepters.splice(0)) give(undefined);
    await this.#endpoint.close();
    await this.#accepting;
  }

  async #connect(target: DialTarget): Promise<IrohConnection> {
    const addresses = target.addresses.filter(isSocketAddress);
    if (addresses.length === 0) throw new TransportError("NoAddress", "the peer has no ip:port");
    if (target.id === this.id) throw new TransportError("IsSelf", "an endpoint does not dial itself");
    const to = new this.#iroh.EndpointAddr(this.#parse(target.id), undefined, addresses);
    return new IrohConnection(await this.#endpoint.connect(to, bytesOf(this.#settings.protocol)));
  }

  #parse(id: EndpointId): Iroh.EndpointId {
    try {
      return this.#iroh.EndpointId.fromString(id);
    } catch {
      throw new TransportError("InvalidIdentity", "the endpoint id is not an Ed25519 public key");
    }
  }

  async #acceptAll(): Promise<void> {
    for (;;) {
      const incoming = await this.#endpoint.acceptNext().catch(() => null);
      if (!incoming) return;
      void this.#shake(incoming).catch(() => undefined);
    }
  }

  /** One that is slow to shake hands keeps nobody else waiting. */
  async #shake(incoming: Iroh.Incoming): Promise<void> {
    if (this.#handshakes >= maxHandshakes) return incoming.refuse();
    this.#handshakes++;
    try {
      const accepting = await incoming.accept();
      this.#arrive(new IrohConnection(await accepting.connect()));
    } finally {
      this.#handshakes--;
    }
  }

  #arrive(connection: IrohConnection): void {
    const give = this.#accepters.shift();
    if (this.#closed) connection.close(closeCodes.leaving);
    else if (give) give(connection);
    else this.#arrived.push(connection);
  }
}

/** The library takes any text for an address and fails much later. */
function isSocketAddress(text: string): boolean {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const isAddress = bracketed === undefined ? isIP(plain ?? "") === 4 : isIP(bracketed) === 6;
  return isAddress && Number(port) > 0 && Number(port) <= 65_535;
}

const bytesOf = (text: string): number[] => Array.from(Buffer.from(text));

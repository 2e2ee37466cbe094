import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { backoffMs } from "../../runtime/backoff.ts";
import type { Clock } from "../../runtime/clock.ts";
import { withDeadline } from "../../runtime/deadline.ts";
import type { Logger } from "../../runtime/log.ts";
import { formatHostPort, type HostPort } from "../config/host-port.ts";
import type { ConfiguredPeer } from "../config/peer-entry.ts";
import type { EndpointId } from "../identity.ts";
import type { StaticPeer } from "./roster.ts";

/** The IP addresses of a name. Rejects when it has none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

export interface StaticPeersOptions {
  readonly peers: readonly ConfiguredPeer[];
  readonly lookup: Lookup;
  /** The names of a linked peer are left alone: its link shows that an address is right. */
  readonly isLinked: (id: EndpointId) => boolean;
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
}

const lookAgainEveryMs = 30_000;
const lookupWithinMs = 5_000;
const unresolvedBackoff = { firstMs: 1_000, maxMs: lookAgainEveryMs };

export const systemLookup: Lookup = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

/** The peers that somebody named, with their names resolved and resolved again while they are not linked. */
export class StaticPeers {
  readonly #options: StaticPeersOptions;
  readonly #peers = new Map<EndpointId, readonly HostPort[]>();
  readonly #resolved = new Map<string, readonly string[]>();
  readonly #failing = new Set<string>();
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #wake = new AbortController();

  constructor(options: StaticPeersOptions) {
    this.#options = options;
    for (const { id, addresses } of options.peers) this.#peers.set(id, addresses);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#wake.abort();
    await this.#running;
  }

  /** Every one with the addresses that are known now. */
  peers(): StaticPeer[] {
    return [...this.#peers].map(([id, addresses]) => ({ id, addresses: addresses.flatMap((one) => this.#at(one)) }));
  }

  /** From now on this peer is wanted at these addresses, besides those it has. */
  add(id: EndpointId, addresses: readonly HostPort[]): void {
    const known = this.#peers.get(id) ?? [];
    const have = new Set(known.map(formatHostPort));
    this.#peers.set(id, [...known, ...addresses.filter((one) => !have.has(formatHostPort(one)))]);
    this.#options.onChange();
    this.#wake.abort();
  }

  /** Resolves addresses for one dial now. Names that cannot be resolved are left out. */
  async resolve(addresses: readonly HostPort[]): Promise<string[]> {
    await Promise.all(namesIn(addresses).map((name) => this.#resolve(name)));
    return addresses.flatMap((one) => this.#at(one));
  }

  #at({ host, port }: HostPort): string[] {
    const ips = isIP(host) === 0 ? (this.#resolved.get(host) ?? []) : [host];
    return ips.map((ip) => formatHostPort({ host: ip, port }));
  }

  async #run(): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    for (let attempt = 0; !this.#stopped.signal.aborted; attempt++) {
      const changes = await Promise.all(this.#dueNames().map((name) => this.#resolve(name)));
      if (changes.includes(true)) this.#options.onChange();
      const afterMs = this.#failing.size > 0 ? 500 + backoffMs(unresolvedBackoff, attempt, random) : lookAgainEveryMs;
      await clock.sleep(afterMs, this.#wake.signal).catch(() => undefined);
      if (!this.#stopped.signal.aborted) this.#wake = new AbortController();
    }
  }

  #dueNames(): string[] {
    const unlinked = [...this.#peers].filter(([id]) => !this.#options.isLinked(id));
    return [...new Set(unlinked.flatMap(([, addresses]) => namesIn(addresses)))];
  }

  /** True when the addresses changed. A name that has none now keeps those it had. */
  async #resolve(name: string): Promise<boolean> {
    const { clock, lookup: ask, log } = this.#options;
    const deadline = { clock, ms: lookupWithinMs, signal: this.#stopped.signal };
    try {
      const ips = [...new Set(await withDeadline(deadline, () => ask(name)))].sort();
      if (this.#failing.delete(name)) log.info("name of a peer resolved", { name });
      const isSame = ips.join() === this.#resolved.get(name)?.join();
      this.#resolved.set(name, ips);
      return !isSame;
    } catch (error) {
      if (this.#stopped.signal.aborted) return false;
      if (!this.#failing.has(name)) log.warn("name of a peer cannot be resolved", { name, error: codeOf(error) });
      this.#failing.add(name);
      return false;
    }
  }
}

function namesIn(addresses: readonly HostPort[]): string[] {
  return addresses.map(({ host }) => host).filter((host) => isIP(host) === 0);
}

function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

import { backoffMs } from "../../runtime/backoff.ts";
import type { Clock } from "../../runtime/clock.ts";
import { Listeners } from "../../runtime/listeners.ts";
import type { Logger } from "../../runtime/log.ts";
import type { EndpointId } from "../identity.ts";
import { DiscoveryTroubles } from "./discovery-troubles.ts";
import type { Mdns, MdnsListener } from "./mdns.ts";
import { openBonjour } from "./mdns-bonjour.ts";
import { announcementOf, type InstanceRecord, type MdnsSelf, readRecord } from "./mdns-record.ts";
import { type Discovery, type DiscoveryState, type Member, sameMembers } from "./member.ts";
import { compareText } from "./text-order.ts";

export interface MdnsDiscoveryOptions {
  readonly self: MdnsSelf;
  /** How often everybody is asked again. */
  readonly intervalMs: number;
  /** Told when the members changed, never twice the same. */
  readonly onMembers: (members: readonly Member[]) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  readonly open?: (listener: MdnsListener) => Promise<Mdns>;
}

/** Announces this node on the LAN and finds the other nodes of its formation there. Starting cannot fail. */
export function startMdnsDiscovery(options: MdnsDiscoveryOptions): Discovery {
  const discovery = new MdnsDiscovery(options);
  discovery.start();
  return discovery;
}

const reopenBackoff = { firstMs: 1_000, maxMs: 60_000 };
/** Multicast gets lost: the first question is repeated soon. */
const firstPausesMs = [1_000, 2_000] as const;
/** Somebody who misses so many questions is gone; so long at least, as long as records usually live. */
const missedSweeps = 4;
const shortestLifeMs = 120_000;
/** Nobody on the LAN makes us remember more than this. */
const mostMembers = 1_000;

interface Sighting {
  readonly member: Member;
  readonly at: number;
}

class MdnsDiscovery implements Discovery {
  readonly #options: MdnsDiscoveryOptions;
  readonly #troubles: DiscoveryTroubles;
  readonly #listeners: Listeners<readonly Member[]>;
  readonly #stopped = new AbortController();
  readonly #seen = new Map<EndpointId, Sighting>();
  #members: readonly Member[] = [];
  #running: Promise<void> | undefined;

  constructor(options: MdnsDiscoveryOptions) {
    this.#options = options;
    this.#troubles = new DiscoveryTroubles(options.log);
    this.#listeners = new Listeners(options.log);
    this.#listeners.add(options.onMembers);
  }

  start(): void {
    this.#running ??= this.#run().catch(() => undefined);
  }

  members(): readonly Member[] {
    return this.#members;
  }

  state(): DiscoveryState {
    return this.#troubles.state;
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#troubles.close();
    await this.#running;
  }

  /** Opens, and opens again after every failure, until closed. */
  async #run(): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    for (let attempt = 0; !this.#stopped.signal.aborted; attempt++) {
      const { problem, sweeps } = await this.#session();
      if (this.#stopped.signal.aborted) return;
      this.#troubles.report("MulticastFailed", problem);
      if (sweeps > firstPausesMs.length) attempt = 0;
      await clock.sleep(backoffMs(reopenBackoff, attempt, random), this.#stopped.signal);
    }
  }

  /** From opening to the failure that ended it. */
  async #session(): Promise<{ readonly problem: string; readonly sweeps: number }> {
    const { self, open = openBonjour } = this.#options;
    const failure = new AbortController();
    const signal = AbortSignal.any([failure.signal, this.#stopped.signal]);
    let mdns: Mdns | undefined;
    let sweeps = 0;
    try {
      mdns = await open({
        seen: (record) => this.#saw(record),
        gone: (instance) => this.#forget(({ member }) => member.name === instance),
        failed: (problem) => failure.abort(new Error(problem)),
      });
      mdns.announce(announcementOf(self));
      for (; ; sweeps++) await this.#sweep(mdns, sweeps, signal);
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error), sweeps };
    } finally {
      await mdns?.close().catch(() => undefined);
    }
  }

  async #sweep(mdns: Mdns, sweeps: number, signal: AbortSignal): Promise<void> {
    const { clock, intervalMs } = this.#options;
    const lifeMs = Math.max(missedSweeps * intervalMs, shortestLifeMs);
    signal.throwIfAborted();
    mdns.sweep();
    await clock.sleep(Math.min(firstPausesMs[sweeps] ?? intervalMs, intervalMs), signal);
    this.#troubles.end();
    this.#forget(({ at }) => clock.now() - at > lifeMs);
  }

  #saw(record: InstanceRecord): void {
    const reading = readRecord(record, this.#options.self);
    if (this.#stopped.signal.aborted || "reason" in reading) return;
    const { member } = reading;
    const known = member.endpointId && this.#seen.get(member.endpointId);
    if (!member.endpointId || (!known && this.#seen.size >= mostMembers)) return;
    this.#seen.set(member.endpointId, { member, at: this.#options.clock.now() });
    if (!known || !sameMembers([known.member], [member])) this.#tell();
  }

  #forget(isGone: (sighting: Sighting) => boolean): void {
    const before = this.#seen.size;
    for (const [id, sighting] of this.#seen) if (isGone(sighting)) this.#seen.delete(id);
    if (this.#seen.size < before) this.#tell();
  }

  #tell(): void {
    if (this.#stopped.signal.aborted) return;
    this.#members = [...this.#seen.values()].map(({ member }) => member).sort(byName);
    this.#listeners.tell(this.#members);
  }
}

function byName(one: Member, other: Member): number {
  return compareText(one.name, other.name) || compareText(one.endpointId ?? "", other.endpointId ?? "");
}

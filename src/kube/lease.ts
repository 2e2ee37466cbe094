import type { Clock } from "../runtime/clock.ts";
import { withDeadline } from "../runtime/deadline.ts";
import { Listeners } from "../runtime/listeners.ts";
import type { Logger } from "../runtime/log.ts";
import type { KubeClient } from "./client.ts";
import { isKubeError } from "./errors.ts";
import { claimedLease, type LeaseObject, leases, newLease, releasedLease } from "./lease-record.ts";

export interface LeaderElectionOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Who we are: unique among all that want the lease, and among the lives of this process. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  /** Others wait so long after the last renewal they saw. Default 15 s. */
  readonly leaseDurationMs?: number;
  /** We stop so long after the last renewal that succeeded. Default 10 s, less than `leaseDurationMs`. */
  readonly renewDeadlineMs?: number;
  /** Default 2 s. */
  readonly retryPeriodMs?: number;
}

const jitter = 1.2;

/**
 * Holds one Lease by the rules of client-go, so that it may be shared with any controller that uses those. Only our own
 * monotonic clock decides: a holder is dead when *we* have not seen its record change for the time it asked for, and
 * we are leader only as long as our last successful renewal, counted from the start of its request, is recent.
 */
export class LeaderElection {
  readonly #options: Required<Omit<LeaderElectionOptions, "log">>;
  readonly #log: Logger;
  readonly #leading: Listeners<void>;
  readonly #lost: Listeners<void>;
  /** The start of the last renewal that succeeded, while we lead. */
  #renewedAt: number | undefined;
  #lease: LeaseObject | undefined;
  #answeredAt: number | undefined;
  #observed: { readonly record: string; readonly at: number } | undefined;

  constructor({ log, ...options }: LeaderElectionOptions) {
    this.#options = {
      random: Math.random,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      ...options,
    };
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = this.#options;
    if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs * jitter && retryPeriodMs > 0))
      throw new Error("a lease needs leaseDurationMs > renewDeadlineMs > 1.2 × retryPeriodMs > 0");
    this.#log = log.with({ lease: `${options.namespace}/${options.name}` });
    this.#leading = new Listeners(this.#log);
    this.#lost = new Listeners(this.#log);
  }

  get isLeader(): boolean {
    return this.validForMs() > 0;
  }

  /**
   * For how long nobody else can hold the lease. Zero from the renew deadline on, also when no timer had a chance to
   * notice: a write that may take this long at most cannot meet one of the next leader.
   */
  validForMs(): number {
    if (this.#renewedAt === undefined) return 0;
    const { clock, leaseDurationMs, renewDeadlineMs } = this.#options;
    const age = clock.now() - this.#renewedAt;
    return age >= renewDeadlineMs ? 0 : leaseDurationMs - age;
  }

  /** When the API last told us who holds the lease, on the monotonic clock. */
  get answeredAt(): number | undefined {
    return this.#answeredAt;
  }

  onLeading(listener: () => void): () => void {
    return this.#leading.add(listener);
  }

  /** Told when leadership ends, by whatever cause. */
  onLost(listener: () => void): () => void {
    return this.#lost.add(listener);
  }

  /** Campaigns and leads, again and again, until the signal; then gives the lease back. Writers must have stopped. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#acquire(signal);
      if (signal.aborted) break;
      this.#log.info("leading");
      this.#leading.tell();
      await this.#hold(signal);
      await this.#pause(signal);
    }
    await this.#release();
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if ((await this.#attempt(signal)) === "held") return;
      await this.#pause(signal);
    }
  }

  #pause(signal: AbortSignal): Promise<void> {
    const { retryPeriodMs, random } = this.#options;
    return this.#sleep(retryPeriodMs * (1 + jitter * random()), signal);
  }

  /** Renews until leadership is lost. */
  async #hold(signal: AbortSignal): Promise<void> {
    const { retryPeriodMs } = this.#options;
    while (!signal.aborted) {
      await this.#sleep(Math.min(retryPeriodMs, this.#untilLostMs()), signal);
      if (signal.aborted) return;
      if (this.#untilLostMs() > 0 && (await this.#attempt(signal)) === "other") break;
      if (this.#untilLostMs() <= 0) break;
    }
    if (signal.aborted) return;
    this.#log.warn("leadership lost");
    this.#end();
  }

  #untilLostMs(): number {
    const { clock, renewDeadlineMs } = this.#options;
    return this.#renewedAt === undefined ? 0 : this.#renewedAt + renewDeadlineMs - clock.now();
  }

  #end(): void {
    if (this.#renewedAt === undefined) return;
    this.#renewedAt = undefined;
    this.#lost.tell();
  }

  /** One try to take or renew the lease, within its own deadline. */
  async #attempt(signal: AbortSignal): Promise<"held" | "other" | "failed"> {
    const { clock, renewDeadlineMs } = this.#options;
    const leading = this.#renewedAt !== undefined;
    const ms = leading ? Math.min(renewDeadlineMs / 2, this.#untilLostMs()) : renewDeadlineMs / 2;
    try {
      const answer = await withDeadline({ clock, ms, signal }, (within) =>
        this.#takeOrRenew({ signal: within, deadlineMs: ms }),
      );
      this.#answeredAt = clock.now();
      return answer;
    } catch (error) {
      if (!signal.aborted) this.#log.warn("lease attempt failed", { leading, error: textOf(error) });
      this.#lease = undefined;
      return "failed";
    }
  }

  async #takeOrRenew(call: Call): Promise<"held" | "other"> {
    const cached = this.#renewedAt === undefined ? undefined : this.#lease;
    if (cached) {
      const written = await this.#write(cached, call);
      if (written) return "held";
    }
    const lease = await this.#read(call);
    if (!lease) return this.#create(call);
    if (this.#isHeldByOther(lease)) return "other";
    if (await this.#write(lease, call)) return "held";
    throw new Error("another writer was faster");
  }

  async #create(call: Call): Promise<"held"> {
    const { client, namespace, name, clock } = this.#options;
    const startedAt = clock.now();
    const lease = newLease({ namespace, name }, this.#claim());
    this.#taken(await client.create(leases, lease, call), { startedAt, call });
    return "held";
  }

  /** False when the lease has changed since it was read. */
  async #write(lease: LeaseObject, call: Call): Promise<boolean> {
    const { client, clock } = this.#options;
    const startedAt = clock.now();
    const written = client.replace(leases, claimedLease(lease, this.#claim()), call);
    return unlessConflict(written.then((answer) => this.#taken(answer, { startedAt, call })));
  }

  async #read(call: Call): Promise<LeaseObject | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      const lease = await client.get(leases, { namespace, name }, call);
      this.#observe(lease);
      return lease;
    } catch (error) {
      if (isKubeError(error, "not-found")) return undefined;
      throw error;
    }
  }

  /** An answer that arrives after its deadline proves nothing and is dropped. */
  #taken(lease: LeaseObject, { startedAt, call }: { readonly startedAt: number; readonly call: Call }): void {
    call.signal.throwIfAborted();
    const { clock, renewDeadlineMs } = this.#options;
    if (clock.now() >= startedAt + renewDeadlineMs) throw new Error("the answer came too late");
    this.#observe(lease);
    this.#lease = lease;
    this.#renewedAt = startedAt;
  }

  #observe(lease: LeaseObject): void {
    const record = JSON.stringify(lease.spec ?? {});
    if (record !== this.#observed?.record) this.#observed = { record, at: this.#options.clock.now() };
  }

  #isHeldByOther({ spec }: LeaseObject): boolean {
    const { identity, clock, leaseDurationMs } = this.#options;
    if (!spec?.holderIdentity || spec.holderIdentity === identity) return false;
    const durationMs = spec.leaseDurationSeconds ? spec.leaseDurationSeconds * 1000 : leaseDurationMs;
    return this.#observed !== undefined && clock.now() < this.#observed.at + durationMs;
  }

  /** Also when we do not lead: a request that was given up at the end may still have taken the lease. */
  async #release(): Promise<void> {
    const { clock, renewDeadlineMs } = this.#options;
    const lease = this.#renewedAt === undefined ? undefined : this.#lease;
    const ms = renewDeadlineMs / 4;
    this.#end();
    try {
      await withDeadline({ clock, ms }, async (signal) => {
        const call = { signal, deadlineMs: ms };
        if (lease && (await this.#giveBack(lease, call))) return;
        const current = await this.#read(call);
        if (current?.spec?.holderIdentity === this.#options.identity) await this.#giveBack(current, call);
      });
    } catch (error) {
      this.#log.warn("lease not given back", { error: textOf(error) });
    }
  }

  async #giveBack(lease: LeaseObject, call: Call): Promise<boolean> {
    const { client, clock } = this.#options;
    return unlessConflict(client.replace(leases, releasedLease(lease, clock.date()), call));
  }

  #claim() {
    const { identity, leaseDurationMs, clock } = this.#options;
    return { identity, leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000), date: clock.date() };
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch {
      // Aborted: the loop sees the signal.
    }
  }
}

interface Call {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

async function unlessConflict(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isKubeError(error, "conflict")) return false;
    throw error;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import type { Clock } from "../runtime/clock.ts";
import { withDeadline } from "../runtime/deadline.ts";
import type { Logger } from "../runtime/log.ts";
import type { KubeClient } from "./client.ts";
import { isKubeError } from "./errors.ts";
import { type EventInput, eventObject, events, type Regarding, type Reporter, seriesOf } from "./event-object.ts";
import type { ObjectRef } from "./object.ts";

export type { EventInput, Regarding } from "./event-object.ts";

export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly reporter: Reporter;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  /** Writes per object and window. Default 20 in 10 minutes. */
  readonly rate?: { readonly writes: number; readonly windowMs: number };
  /** How many Events may wait to be written. Default 1000. */
  readonly maxWaiting?: number;
}

/** Everything that happened under one key: one Event object, counted. */
interface Series {
  input: EventInput;
  count: number;
  lastAt: number;
  /** Where it was written, once it was. */
  written: ObjectRef | undefined;
}

const writeDeadlineMs = 5_000;
/** After so long a repetition is a new story, and a new Event. */
const seriesEndsAfterMs = 1_800_000;
const maxSeries = 4_000;

/** Tells people about changes through Events. It never throws and never makes anyone wait. */
export class EventRecorder {
  readonly #options: Required<Omit<EventRecorderOptions, "random">> & { readonly random: () => number };
  readonly #series = new Map<string, Series>();
  readonly #waiting = new Set<string>();
  /** When each object was last written about, within the window. */
  readonly #writes = new Map<string, number[]>();
  readonly #stopped = new AbortController();
  #draining: Promise<void> | undefined;
  #closed = false;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = { random: Math.random, rate: { writes: 20, windowMs: 600_000 }, maxWaiting: 1_000, ...options };
  }

  /** How many were not written: too many, refused, or too late. */
  get dropped(): number {
    return this.#dropped;
  }

  record(input: EventInput): void {
    if (this.#closed || !this.#accept(input)) this.#dropped++;
    else this.#draining ??= this.#drain();
  }

  /** Writes what waits, for a moment at most, and takes nothing more. */
  async stop(withinMs = 2_000): Promise<void> {
    this.#closed = true;
    try {
      await withDeadline({ clock: this.#options.clock, ms: withinMs }, async () => this.#draining);
    } catch {
      this.#dropped += this.#waiting.size;
      this.#waiting.clear();
    }
    this.#stopped.abort();
  }

  #accept(input: EventInput): boolean {
    const key = keyOfEvent(input);
    this.#count(key, input);
    if (this.#waiting.has(key)) return true;
    if (this.#waiting.size >= this.#options.maxWaiting || !this.#mayWrite(input.regarding)) return false;
    this.#waiting.add(key);
    return true;
  }

  #count(key: string, input: EventInput): void {
    const now = this.#options.clock.now();
    const known = this.#series.get(key);
    const goesOn = known && now - known.lastAt < seriesEndsAfterMs;
    const series = goesOn ? known : { input, count: 0, lastAt: now, written: undefined };
    series.input = input;
    series.count++;
    series.lastAt = now;
    // The last one in the map is the last that happened, so that the first is the one to forget.
    this.#series.delete(key);
    this.#series.set(key, series);
    const [oldest] = this.#series.keys();
    if (this.#series.size > maxSeries && oldest !== undefined) this.#series.delete(oldest);
  }

  #mayWrite(regarding: Regarding): boolean {
    const { clock, rate } = this.#options;
    const since = clock.now() - rate.windowMs;
    for (const [object, times] of this.#writes) if ((times.at(-1) ?? 0) <= since) this.#writes.delete(object);
    const object = keyOfObject(regarding);
    const recent = (this.#writes.get(object) ?? []).filter((time) => time > since);
    if (recent.length >= rate.writes) return false;
    this.#writes.set(object, [...recent, clock.now()]);
    return true;
  }

  async #drain(): Promise<void> {
    await Promise.resolve();
    for (const key of this.#waiting) {
      this.#waiting.delete(key);
      const series = this.#series.get(key);
      if (series) await this.#write(series);
    }
    this.#draining = undefined;
  }

  async #write(series: Series): Promise<void> {
    try {
      if (!(await this.#continueSeries(series))) await this.#create(series);
    } catch (error) {
      this.#dropped++;
      const { reason } = series.input;
      this.#options.log.warn("event not written", { reason, error: error instanceof Error ? error.message : "" });
    }
  }

  /** False when there is no Event to continue: none was written yet, or the API has forgotten it. */
  async #continueSeries({ written, count }: Series): Promise<boolean> {
    if (!written) return false;
    const { client, clock } = this.#options;
    const body = { series: seriesOf(count, clock.date()) };
    try {
      await client.patch(events, written, { body, ...this.#call() });
      return true;
    } catch (error) {
      if (isKubeError(error, "not-found")) return false;
      throw error;
    }
  }

  async #create(series: Series): Promise<void> {
    const { client, clock, reporter, random } = this.#options;
    const { input, count } = series;
    const suffix = Math.floor(random() * 2 ** 48)
      .toString(16)
      .padStart(12, "0");
    const object = eventObject(input, { reporter, date: clock.date(), suffix });
    const repeated = count > 1 && { series: seriesOf(count, clock.date()) };
    await client.create(events, { ...object, ...repeated }, this.#call());
    const { name, namespace = "default" } = object.metadata;
    series.written = { name, namespace };
  }

  #call() {
    return { deadlineMs: writeDeadlineMs, signal: this.#stopped.signal };
  }
}

function keyOfObject({ apiVersion, kind, namespace = "", name, uid = "" }: Regarding): string {
  return [apiVersion, kind, namespace, name, uid].join("\n");
}

function keyOfEvent({ regarding, type, reason, note, noteKey = note }: EventInput): string {
  return [keyOfObject(regarding), type, reason, noteKey].join("\n");
}

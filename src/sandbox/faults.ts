import type { Random } from "./random.ts";
import type { ApiVerb } from "./routes.ts";

/** Which requests, or which events of a watch, a fault applies to. What is absent matches everything. */
export interface FaultMatch {
  readonly verb?: ApiVerb;
  /** `plural` or `plural.group`. */
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** A part of the User-Agent header. */
  readonly userAgent?: string;
}

export type FaultAction =
  | { readonly kind: "latency"; readonly ms: number }
  /** The connection breaks before anything was done. */
  | { readonly kind: "refuse" }
  | { readonly kind: "status"; readonly code: number; readonly retryAfterSeconds?: number }
  /** The write happens, its answer never arrives. */
  | { readonly kind: "drop-response" }
  | { readonly kind: "cut-watch"; readonly afterEvents?: number }
  /** The stream stays open and says nothing more, not even bookmarks. */
  | { readonly kind: "stall-watch"; readonly afterEvents?: number }
  | { readonly kind: "drop-event" }
  | { readonly kind: "duplicate-event" }
  /** An HTML page instead of JSON; on a watch, bytes that are no event. `code` is the HTTP status, 200 if absent. */
  | { readonly kind: "garbage"; readonly code?: number }
  /** A list as it was at `resourceVersion`, or as many revisions ago as `behind` says. */
  | { readonly kind: "stale-list"; readonly resourceVersion?: string; readonly behind?: number };

export type FaultKind = FaultAction["kind"];

export interface FaultRule {
  readonly match?: FaultMatch;
  /** How often it happens before the rule is used up. Absent: for ever. */
  readonly times?: number;
  /** Between 0 and 1. Absent: always. */
  readonly probability?: number;
  readonly do: FaultAction;
}

/** What a rule is matched against. */
export interface FaultSubject {
  readonly verb: ApiVerb | undefined;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly userAgent: string;
}

interface ActiveRule {
  readonly rule: FaultRule;
  left: number;
}

/** The faults of one cluster. Rules apply in the order they were added. */
export class Faults {
  readonly #random: Random;
  readonly #listeners = new Set<() => void>();
  readonly #injected = new Map<FaultKind, number>();
  #rules: ActiveRule[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** The returned function takes the rule away. */
  add(rule: FaultRule): () => void {
    const active = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#rules.push(active);
    for (const listener of this.#listeners) listener();
    return () => {
      this.#rules = this.#rules.filter((other) => other !== active);
    };
  }

  clear(): void {
    this.#rules = [];
  }

  /** How often each kind happened. */
  get injected(): Readonly<Partial<Record<FaultKind, number>>> {
    return Object.fromEntries(this.#injected);
  }

  get active(): boolean {
    return this.#rules.length > 0;
  }

  /** The first fault of one of these kinds that hits, already counted. `accept` can decline it. */
  take<K extends FaultKind>(
    subject: FaultSubject,
    kinds: readonly K[],
    accept: (action: Extract<FaultAction, { kind: K }>) => boolean = () => true,
  ): Extract<FaultAction, { kind: K }> | undefined {
    for (const active of this.#rules) {
      const action = active.rule.do as Extract<FaultAction, { kind: K }>;
      if (!kinds.includes(action.kind as K) || !matches(active.rule.match ?? {}, subject)) continue;
      if (!accept(action) || !this.#hits(active)) continue;
      this.#use(active);
      return action;
    }
    return undefined;
  }

  /** Told whenever a rule is added, so that open watches can be hit. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #hits({ rule }: ActiveRule): boolean {
    return rule.probability === undefined || this.#random() < rule.probability;
  }

  #use(active: ActiveRule): void {
    active.left -= 1;
    if (active.left <= 0) this.#rules = this.#rules.filter((other) => other !== active);
    const { kind } = active.rule.do;
    this.#injected.set(kind, (this.#injected.get(kind) ?? 0) + 1);
  }
}

function matches(match: FaultMatch, subject: FaultSubject): boolean {
  if (match.verb !== undefined && match.verb !== subject.verb) return false;
  if (match.resource !== undefined && !sameResource(match.resource, subject.resource)) return false;
  if (match.namespace !== undefined && match.namespace !== subject.namespace) return false;
  if (match.name !== undefined && match.name !== subject.name) return false;
  return match.userAgent === undefined || subject.userAgent.includes(match.userAgent);
}

function sameResource(wanted: string, resource: string): boolean {
  return wanted === resource || resource.startsWith(`${wanted}.`);
}

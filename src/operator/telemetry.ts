import type { LeaderElection } from "../kube/lease.ts";
import type { Clock } from "../runtime/clock.ts";
import { fillMetrics } from "./fill-metrics.ts";
import { type OperatorMetrics, RecordedMetrics, silentMetrics } from "./operator-metrics.ts";
import type { OperatorState } from "./operator-state.ts";
import { type Readiness, type Role, readinessOf } from "./process-readiness.ts";

export interface TelemetryOptions {
  readonly clock: Clock;
  /** False where nobody can ask for them: then nothing is counted. */
  readonly withMetrics: boolean;
}

/** What one process tells of itself, whether it leads or not, over all its terms as a leader. */
export class Telemetry {
  readonly #clock: Clock;
  readonly #recorded: RecordedMetrics | undefined;
  #election: LeaderElection | undefined;
  #state: OperatorState | undefined;

  constructor({ clock, withMetrics }: TelemetryOptions) {
    this.#clock = clock;
    this.#recorded = withMetrics ? new RecordedMetrics({ ofProcess: true }) : undefined;
  }

  get metrics(): OperatorMetrics {
    return this.#recorded ?? silentMetrics;
  }

  get contentType(): string {
    return this.#recorded?.series.contentType ?? "text/plain";
  }

  /** Who leads is decided by this election; without one, we do. */
  follow(election: LeaderElection): void {
    this.#election = election;
  }

  /** From now on this operator is at work. Returns the function that ends it. */
  show(state: OperatorState): () => void {
    this.#state = state;
    return () => {
      if (this.#state === state) this.#state = undefined;
    };
  }

  readiness(): Readiness {
    return readinessOf(this.#role(), this.#clock.now());
  }

  /** All metrics as text. Costs no request to any API. */
  async text(): Promise<string> {
    const recorded = this.#recorded;
    if (!recorded) return "";
    return recorded.series.text(() => {
      recorded.series.add("kilo_clustermesh_leader", {}, this.#leads() ? 1 : 0);
      if (this.#state) fillMetrics(recorded, this.#state, this.#clock.date());
    });
  }

  #leads(): boolean {
    return this.#election?.isLeader ?? true;
  }

  #role(): Role {
    if (!this.#leads()) return { kind: "standby", leaseAnsweredMs: this.#election?.answeredAt };
    if (!this.#state) return { kind: "starting" };
    return { kind: "leading", meshes: this.#state.knowledge(), wasListed: this.#state.wasListed() };
  }
}

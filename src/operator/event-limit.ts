import type { MeshId } from "../core/ids.ts";
import type { Clock } from "../runtime/clock.ts";
import type { MeshEvent } from "./mesh-events.ts";

const mostEvents = 20;
const windowMs = 600_000;

interface Told {
  /** When its last Events were told. */
  readonly atMs: readonly number[];
  /** Since the last line that said how many. */
  readonly held: number;
}

/** Lets at most twenty Events of a mesh through in ten minutes. The last of them says how many were held back. */
export class EventLimit {
  readonly #clock: Clock;
  readonly #told = new Map<MeshId, Told>();
  #heldBack = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many were never told. */
  get heldBack(): number {
    return this.#heldBack;
  }

  /** Those of the events that may be told now, and a line for the rest as soon as there is room for one. */
  pass(mesh: MeshId, events: readonly MeshEvent[]): MeshEvent[] {
    if (events.length === 0) return [];
    const nowMs = this.#clock.now();
    this.#forgetOld(nowMs);
    const { atMs, held } = this.#told.get(mesh) ?? { atMs: [], held: 0 };
    const recent = atMs.filter((time) => nowMs - time < windowMs);
    const shown = events.slice(0, Math.max(0, mostEvents - 1 - recent.length));
    const rest = events.length - shown.length;
    this.#heldBack += rest;
    const mayCount = held + rest > 0 && recent.length + shown.length < mostEvents;
    const passed = mayCount ? [...shown, heldBackEvent(held + rest)] : shown;
    this.#told.set(mesh, { atMs: [...recent, ...passed.map(() => nowMs)], held: mayCount ? 0 : held + rest });
    return passed;
  }

  #forgetOld(nowMs: number): void {
    for (const [mesh, { atMs }] of this.#told) if (nowMs - (atMs.at(-1) ?? 0) >= 2 * windowMs) this.#told.delete(mesh);
  }
}

function heldBackEvent(count: number): MeshEvent {
  const note = `${count} more were held back: at most ${mostEvents} in ten minutes. The status says all of it`;
  return { type: "Normal", reason: "EventsHeldBack", note };
}

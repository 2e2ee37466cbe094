import { microTime } from "./lease-record.ts";
import type { KubeObject } from "./object.ts";
import { type Resource, events as untypedEvents } from "./resource.ts";

/** The object an Event is about. */
export interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

export interface EventInput {
  readonly regarding: Regarding;
  readonly type: "Normal" | "Warning";
  /** One word, as in conditions. */
  readonly reason: string;
  /** What was being done: one word. Default: the reason. */
  readonly action?: string;
  readonly note: string;
  /** Notes with the same key are one Event that is counted. Default: the note itself. */
  readonly noteKey?: string;
}

export interface EventObject extends KubeObject {
  readonly eventTime: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly regarding: Regarding;
  readonly note: string;
  readonly type: "Normal" | "Warning";
  readonly series?: EventSeries;
}

export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: string;
}

export const events = untypedEvents as Resource<EventObject>;

export interface Reporter {
  readonly controller: string;
  readonly instance: string;
}

export interface EventMoment {
  readonly reporter: Reporter;
  readonly date: Date;
  /** Makes the name of the Event unique. */
  readonly suffix: string;
}

/** The Event as the API wants it; notes and names are cut to what it takes. */
export function eventObject(input: EventInput, { reporter, date, suffix }: EventMoment): EventObject {
  const { regarding, type, reason, action = reason, note } = input;
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: {
      name: `${regarding.name.slice(0, 200).replace(/[.-]+$/, "")}.${suffix}`,
      namespace: regarding.namespace ?? "default",
    },
    eventTime: microTime(date),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance.slice(0, 128),
    action: action.slice(0, 128),
    reason: reason.slice(0, 128),
    regarding,
    note: cutBytes(note, 1024),
    type,
  };
}

export function seriesOf(count: number, date: Date): EventSeries {
  return { count, lastObservedTime: microTime(date) };
}

function cutBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text).subarray(0, maxBytes - 3);
  return `${bytes.toString("utf8").replace(/\uFFFD+$/, "")}…`;
}

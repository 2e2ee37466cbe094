import { sameJson } from "../api/same-json.ts";
import { type FieldProblem, invalidValue, required } from "./field-problem.ts";
import { isMap, mapOf } from "./json.ts";
import { keyProblems } from "./metadata-validation.ts";
import { requireMicroTime } from "./unreadable.ts";
import type { WireObject } from "./wire-object.ts";

/** Throws `BadRequest` for an Event whose times are none. */
export function decodeEvent(event: WireObject): void {
  requireMicroTime(event, event.eventTime);
  requireMicroTime(event, mapOf(event.series).lastObservedTime);
}

/** What is wrong with an Event, as stored, that was written through the core group. */
export function validateCoreEvent(event: WireObject): FieldProblem[] {
  return event.eventTime === undefined ? placeProblems(event) : newStyleProblems(event, "reportingComponent");
}

/** What is wrong with an Event, as stored, that was written through events.k8s.io: that group asks for more. */
export function validateEvent(event: WireObject, previous: WireObject | undefined): FieldProblem[] {
  const common = event.eventTime === undefined ? placeProblems(event) : newStyleProblems(event, "reportingController");
  const seriesChanged = !sameJson(event.series, previous?.series);
  const series = seriesChanged && isMap(event.series) ? seriesProblems(mapOf(event.series)) : [];
  return [...common, ...series, ...(previous ? changeProblems(event, previous) : birthProblems(event))];
}

/** An Event without a time is of the old style. */
function placeProblems({ metadata, involvedObject }: WireObject): FieldProblem[] {
  const { namespace = "" } = mapOf(involvedObject);
  const matches = namespace === "" ? metadata.namespace === "default" : namespace === metadata.namespace;
  return matches ? [] : [misplaced(namespace)];
}

function newStyleProblems(event: WireObject, controllerField: string): FieldProblem[] {
  const { namespace = "" } = mapOf(event.involvedObject);
  const homes = ["default", "kube-system"];
  const controller = String(event.reportingComponent ?? "");
  return [
    ...(namespace === "" && !homes.includes(event.metadata.namespace ?? "") ? [misplaced(namespace)] : []),
    ...(controller === "" ? [required(controllerField)] : []),
    ...keyProblems(controllerField, controller),
    ...["reportingInstance", "action", "reason"].flatMap((field) => textProblems(event, field)),
    ...lengthProblems("message", event.message, 1024),
  ];
}

function textProblems(event: WireObject, field: string): FieldProblem[] {
  return event[field] ? lengthProblems(field, event[field], 128) : [required(field)];
}

function lengthProblems(field: string, text: unknown, maxBytes: number): FieldProblem[] {
  const isLong = Buffer.byteLength(String(text ?? "")) > maxBytes;
  return isLong ? [invalidValue(field, "", `can have at most ${maxBytes} characters`)] : [];
}

function misplaced(namespace: unknown): FieldProblem {
  return invalidValue("involvedObject.namespace", namespace, "does not match event.namespace");
}

function seriesProblems({ count, lastObservedTime }: Readonly<Record<string, unknown>>): FieldProblem[] {
  return [
    ...(Number(count ?? 0) < 2 ? [invalidValue("series.count", "", "should be at least 2")] : []),
    ...(lastObservedTime === undefined ? [required("series.lastObservedTime")] : []),
  ];
}

function birthProblems(event: WireObject): FieldProblem[] {
  const type = String(event.type ?? "");
  const oldStyle = ["firstTimestamp", "lastTimestamp", "count"].filter((field) => event[field]);
  if (Object.keys(mapOf(event.source)).length > 0) oldStyle.push("source");
  return [
    ...(event.eventTime === undefined ? [required("eventTime")] : []),
    ...(["Normal", "Warning"].includes(type) ? [] : [invalidValue("type", "", `has invalid value: ${type}`)]),
    ...oldStyle.map((field) => invalidValue(field, "", "needs to be unset")),
  ];
}

const fixed = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingComponent",
  "reportingInstance",
];

function changeProblems(event: WireObject, previous: WireObject): FieldProblem[] {
  return fixed
    .filter((field) => !sameJson(event[field], previous[field]))
    .map((field) => {
      const name = field === "reportingComponent" ? "reportingController" : field;
      return invalidValue(name, event[field] ?? "", "field is immutable");
    });
}

import type { InvalidCause, KubeErrorKind } from "./errors.ts";

const maxCauses = 32;
const maxCauseLength = 1024;

/** What an answer that is not a success means, by its HTTP status and its `Status` body, if it has one. */
export interface Refusal {
  readonly kind: KubeErrorKind;
  readonly status: number;
  readonly retryAfterMs?: number;
  readonly causes?: readonly InvalidCause[];
  readonly detail?: string;
}

export interface RefusedAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** The parsed body, or `undefined` when it is not JSON. */
  readonly body: unknown;
}

export function refusalOf({ status, retryAfter, body }: RefusedAnswer): Refusal {
  const { reason, message, details } = readStatus(body);
  const kind = kindOf(status, reason);
  const retryAfterMs = retryAfterMsOf(kind, retryAfter ?? details.retryAfterSeconds);
  const causes = kind === "invalid" ? causesOf(details.causes, message) : [];
  return {
    kind,
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(causes.length > 0 && { causes }),
    ...(status >= 300 && status < 400 && { detail: "redirect refused" }),
  };
}

interface StatusBody {
  readonly reason?: string;
  readonly message?: string;
  readonly details: Readonly<Record<string, unknown>>;
}

function readStatus(body: unknown): StatusBody {
  const { reason, message, details } = asRecord(body);
  return {
    ...(typeof reason === "string" && { reason }),
    ...(typeof message === "string" && { message }),
    details: asRecord(details),
  };
}

const kindByStatus: ReadonlyMap<number, KubeErrorKind> = new Map([
  [400, "invalid"],
  [401, "unauthorized"],
  [403, "forbidden"],
  [404, "not-found"],
  [409, "conflict"],
  [410, "gone"],
  [422, "invalid"],
  [429, "too-many-requests"],
]);

function kindOf(status: number, reason: string | undefined): KubeErrorKind {
  if (reason === "Expired" || reason === "Gone") return "gone";
  if (status === 409 && reason === "AlreadyExists") return "already-exists";
  if (status === 504 && reason === "Timeout") return "timeout";
  return kindByStatus.get(status) ?? "server";
}

/** Seconds as a number, or as the text of a Retry-After header. */
function retryAfterMsOf(kind: KubeErrorKind, seconds: unknown): number | undefined {
  if (kind !== "too-many-requests" && kind !== "server" && kind !== "timeout") return undefined;
  const value = typeof seconds === "string" && /^\d{1,6}$/.test(seconds) ? Number(seconds) : seconds;
  return typeof value === "number" && value >= 0 && value < 1e6 ? value * 1000 : undefined;
}

function causesOf(causes: unknown, message: string | undefined): readonly InvalidCause[] {
  const listed = Array.isArray(causes) ? causes.slice(0, maxCauses).map(asRecord) : [];
  const told = listed.flatMap(({ field, message: text }) =>
    typeof text === "string"
      ? [{ field: typeof field === "string" ? printable(field) : "", message: printable(text) }]
      : [],
  );
  return told.length > 0 || !message ? told : [{ field: "", message: printable(message) }];
}

/** Remote text for a terminal: no control characters, not endless. */
function printable(text: string): string {
  return text.slice(0, maxCauseLength).replace(/\p{Cc}+/gu, " ");
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

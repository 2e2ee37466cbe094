import { type FieldProblem, problemText } from "./field-problem.ts";

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The body of every answer that is not an object: `kind: Status`. */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** What the API refuses, with the body it sends. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: Status;

  constructor(status: Status) {
    super(status.message);
    this.status = status;
  }
}

export interface GroupResource {
  readonly group: string;
  readonly plural: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export function qualified({ group, plural }: GroupResource): string {
  return group === "" ? plural : `${plural}.${group}`;
}

export function success(details: StatusDetails): Status {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details, code: 200 };
}

export function notFound(resource: GroupResource, name: string): StatusError {
  return aboutObject({ code: 404, reason: "NotFound" }, resource, name)(`${qualified(resource)} "${name}" not found`);
}

export function alreadyExists(resource: GroupResource, name: string): StatusError {
  const text = `${qualified(resource)} "${name}" already exists`;
  return aboutObject({ code: 409, reason: "AlreadyExists" }, resource, name)(text);
}

export function conflict(resource: GroupResource, name: string, why: string): StatusError {
  const text = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return aboutObject({ code: 409, reason: "Conflict" }, resource, name)(text);
}

export function forbidden(resource: GroupResource, name: string, why: string): StatusError {
  const what = name === "" ? qualified(resource) : `${qualified(resource)} "${name}"`;
  return aboutObject({ code: 403, reason: "Forbidden" }, resource, name)(`${what} is forbidden: ${why}`);
}

export function methodNotAllowed(): StatusError {
  return failure({ code: 405, reason: "MethodNotAllowed", details: {} }, genericMessage(405));
}

/** Nothing is served at a path of a built-in group. */
export function noSuchResource(): StatusError {
  return failure({ code: 404, reason: "NotFound", details: {} }, "the server could not find the requested resource");
}

/** A failure that the server has no reason word for. */
export function plainFailure(code: number, message: string): StatusError {
  return failure({ code }, message);
}

export function badRequest(message: string): StatusError {
  return failure({ code: 400, reason: "BadRequest" }, message);
}

export function unauthorized(): StatusError {
  return failure({ code: 401, reason: "Unauthorized" }, "Unauthorized");
}

export function internalError(message: string): StatusError {
  const details = { causes: [{ reason: "", message }] };
  return failure({ code: 500, reason: "InternalError", details }, `Internal error occurred: ${message}`);
}

export function expired(message: string, continueToken?: string): StatusError {
  const error = failure({ code: 410, reason: "Expired" }, message);
  if (continueToken === undefined) return error;
  return new StatusError({ ...error.status, metadata: { continue: continueToken } });
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const text = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`;
  return failure({ code: 415, reason: "UnsupportedMediaType" }, text);
}

export function notAcceptable(accepted: readonly string[]): StatusError {
  const text = `only the following media types are accepted: ${accepted.join(", ")}`;
  return failure({ code: 406, reason: "NotAcceptable" }, text);
}

export function versionTooLarge(asked: number, current: number): StatusError {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  const text = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return failure({ code: 504, reason: "Timeout", details: { causes, retryAfterSeconds: 1 } }, text);
}

export function invalid(kind: GroupKind, name: string, problems: readonly FieldProblem[]): StatusError {
  const causes = problems.map((problem) => ({
    reason: problem.type,
    message: problemText(problem),
    field: problem.field,
  }));
  const texts = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const text = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const what = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  const details = { ...(name && { name }), ...(kind.group && { group: kind.group }), kind: kind.kind, causes };
  return failure({ code: 422, reason: "Invalid", details }, `${what} "${name}" is invalid: ${text}`);
}

/** A failure known only by its code, in the words that a server uses when it has no others. */
export function failureOf(code: number, retryAfterSeconds?: number): StatusError {
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const reason = genericReasons[code] ?? (code >= 500 ? "InternalError" : "Unknown");
  return failure({ code, reason, details }, genericMessage(code));
}

const genericReasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  409: "Conflict",
  410: "Expired",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function genericMessage(code: number): string {
  const messages: Readonly<Record<number, string>> = {
    401: "Unauthorized",
    403: "the server refused the request",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    410: "The resourceVersion for the provided watch is too old.",
    422: "the server rejected our request due to an error in our request",
    429: "Too many requests, please try again later.",
    503: "the server is currently unable to handle the request",
  };
  return messages[code] ?? `the server responded with the status code ${code} but did not return more information`;
}

type FailureFacts = Pick<Status, "code" | "reason" | "details">;

function failure(facts: FailureFacts, message: string): StatusError {
  return new StatusError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, ...facts });
}

function aboutObject(facts: FailureFacts, { group, plural }: GroupResource, name: string) {
  const details = { ...(name && { name }), ...(group && { group }), kind: plural };
  return (message: string): StatusError => failure({ ...facts, details }, message);
}

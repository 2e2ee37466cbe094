/** Everything that can go wrong between us and an API server. Callers switch on it and never read messages. */
export type KubeErrorKind =
  | "not-found"
  | "conflict"
  | "already-exists"
  | "gone"
  | "forbidden"
  | "unauthorized"
  | "invalid"
  | "too-many-requests"
  | "timeout"
  | "unreachable"
  | "server";

export type Verb = "get" | "list" | "watch" | "create" | "replace" | "patch" | "delete";

/** One field the API refused, in its own words. */
export interface InvalidCause {
  readonly field: string;
  readonly message: string;
}

export interface KubeErrorFacts {
  readonly kind: KubeErrorKind;
  readonly cluster: string;
  readonly verb: Verb;
  /** `plural.group`, as RBAC and kubectl write it. */
  readonly resource: string;
  readonly name?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly causes?: readonly InvalidCause[];
  /** Our own words for what happened: never text of the remote side, never a credential. */
  readonly detail?: string;
}

/**
 * The one error type of this layer. Its message is built from our facts alone: the remote side's text may hold
 * anything, so it stays out of logs and status. `causes` and `detail` are for a person at a terminal.
 */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly kind: KubeErrorKind;
  readonly cluster: string;
  readonly verb: Verb;
  readonly resource: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly InvalidCause[];
  readonly detail: string | undefined;
  /** The message without the cluster, where everybody knows which one is meant. */
  readonly fault: string;

  constructor(facts: KubeErrorFacts, options?: ErrorOptions) {
    const fault = faultOf(facts);
    super(`${facts.cluster}: ${fault}`, options);
    this.fault = fault;
    this.kind = facts.kind;
    this.cluster = facts.cluster;
    this.verb = facts.verb;
    this.resource = facts.resource;
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.causes = facts.causes ?? [];
    this.detail = facts.detail;
  }
}

export function isKubeError(error: unknown, ...kinds: readonly KubeErrorKind[]): error is KubeError {
  return error instanceof KubeError && (kinds.length === 0 || kinds.includes(error.kind));
}

function faultOf({ kind, verb, resource, name, status, detail }: KubeErrorFacts): string {
  const what = name ? `${resource} ${name}` : resource;
  const how = [kind, status ? `HTTP ${status}` : undefined, detail].filter(Boolean).join(", ");
  return `${verb} ${what}: ${how}`;
}

import type { Call } from "./call.ts";
import { forbidden, StatusError, unauthorized } from "./status.ts";

export interface User {
  readonly username: string;
  readonly groups: readonly string[];
}

const publicPaths: readonly string[] = ["/healthz", "/livez", "/readyz", "/version"];

/** The bearer tokens that a cluster accepts. Whoever has one may do everything. */
export class Authentication {
  readonly #now: () => Date;
  /** Until when each is accepted. */
  readonly #tokens = new Map<string, Date | undefined>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  add(token: string, until?: Date): void {
    this.#tokens.set(token, until);
  }

  revoke(token: string): void {
    this.#tokens.delete(token);
  }

  /** Throws `Unauthorized` for a token that is not known, `Forbidden` for none at all. */
  check(call: Call): void {
    if (call.token !== undefined) {
      if (!this.#isAccepted(call.token)) throw unauthorized();
      return;
    }
    if (!publicPaths.some((path) => call.path === path || call.path.startsWith(`${path}/`))) throw anonymous(call);
  }

  #isAccepted(token: string): boolean {
    const until = this.#tokens.get(token);
    return until ? this.#now() < until : this.#tokens.has(token);
  }

  get user(): User {
    return { username: "sandbox-admin", groups: ["system:masters", "system:authenticated"] };
  }
}

function anonymous({ method, path, route, verb }: Call): StatusError {
  const who = 'User "system:anonymous" cannot';
  if (!route) return nonResourceForbidden(`${who} ${method.toLowerCase()} path "${path}"`);
  const scope = route.namespace ? `in the namespace "${route.namespace}"` : "at the cluster scope";
  const what = `${who} ${verb ?? method.toLowerCase()} resource "${route.plural}" in API group "${route.group}" ${scope}`;
  return forbidden(route, route.name ?? "", what);
}

function nonResourceForbidden(what: string): StatusError {
  const message = `forbidden: ${what}`;
  const head = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" } as const;
  return new StatusError({ ...head, message, reason: "Forbidden", details: {}, code: 403 });
}

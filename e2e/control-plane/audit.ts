import { readFile } from "node:fs/promises";

/** One request that the server has answered, or is still answering (a watch that is open). */
export interface AuditEntry {
  readonly id: string;
  /** Kubernetes' word: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  readonly user: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly code: number;
  readonly open: boolean;
  readonly userAgent: string;
  readonly uri: string;
  readonly timestamp: Date;
}

/** The server's requests to itself are noise for every counter, so they are not written. */
export const auditPolicy = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "None", users: ["system:apiserver"] }, { level: "Metadata" }],
});

/** One entry per request, in the order of their arrival; a request's later stage replaces its earlier one. */
export async function readAuditLog(file: string): Promise<AuditEntry[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  const entries = new Map<string, AuditEntry>();
  for (const line of text.split("\n")) {
    const entry = entryOf(line);
    if (entry) entries.set(entry.id, entry);
  }
  return [...entries.values()].sort((one, other) => one.timestamp.getTime() - other.timestamp.getTime());
}

interface AuditEvent {
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly requestReceivedTimestamp: string;
  readonly userAgent?: string;
  readonly user?: { readonly username?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly objectRef?: Partial<Record<"apiGroup" | "resource" | "subresource" | "namespace" | "name", string>>;
}

/** Nothing for a line that is no entry. */
export function entryOf(line: string): AuditEntry | undefined {
  const event = eventOf(line);
  if (!event) return undefined;
  const { apiGroup = "", resource = "", subresource = "", namespace = "", name = "" } = event.objectRef ?? {};
  return {
    id: event.auditID,
    verb: event.verb,
    user: event.user?.username ?? "",
    group: apiGroup,
    resource,
    subresource,
    namespace,
    name,
    code: event.responseStatus?.code ?? 0,
    open: event.stage === "ResponseStarted",
    userAgent: event.userAgent ?? "",
    uri: event.requestURI,
    timestamp: new Date(event.requestReceivedTimestamp),
  };
}

/** Nothing for the last line while the server is writing it. */
function eventOf(line: string): AuditEvent | undefined {
  try {
    return line ? (JSON.parse(line) as AuditEvent) : undefined;
  } catch {
    return undefined;
  }
}

import type { Catalogue } from "./catalogue.ts";
import type { ServedResource } from "./served-resource.ts";

export type ApiVerb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** A request for objects. `served` is undefined when nothing is served there. */
export interface ResourceRoute {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly served: ServedResource | undefined;
}

/** Where a path leads, or undefined when it is not below `/api/VERSION/` or `/apis/GROUP/VERSION/`. */
export function routeOf(path: string, catalogue: Catalogue): ResourceRoute | undefined {
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);
  const [root, ...rest] = parts;
  if (root === "api") return inVersion("", rest, catalogue);
  if (root === "apis") return inVersion(rest[0] ?? "", rest.slice(1), catalogue);
  return undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function inVersion(group: string, parts: readonly string[], catalogue: Catalogue): ResourceRoute | undefined {
  const [version, ...rest] = parts;
  if (version === undefined || rest.length === 0) return undefined;
  const scoped = rest[0] === "namespaces" && rest.length > 2 && !isNamespaceSubresource(group, rest);
  const [plural = "", name, subresource] = scoped ? rest.slice(2) : rest;
  const served = catalogue.find(group, version, plural);
  return {
    group,
    version,
    plural,
    ...(scoped && { namespace: rest[1] ?? "" }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
    served,
  };
}

function isNamespaceSubresource(group: string, parts: readonly string[]): boolean {
  return group === "" && parts.length === 3 && (parts[2] === "status" || parts[2] === "finalize");
}

export function verbOf(method: string, route: ResourceRoute, query: URLSearchParams): ApiVerb | undefined {
  const verbs = route.name === undefined ? collectionVerbs : objectVerbs;
  const verb = verbs[method];
  return verb === "list" && isTrue(query.get("watch")) ? "watch" : verb;
}

const collectionVerbs: Readonly<Record<string, ApiVerb>> = { GET: "list", POST: "create", DELETE: "deletecollection" };
const objectVerbs: Readonly<Record<string, ApiVerb>> = { GET: "get", PUT: "update", PATCH: "patch", DELETE: "delete" };

export function isTrue(value: string | null): boolean {
  return value === "1" || value === "true";
}

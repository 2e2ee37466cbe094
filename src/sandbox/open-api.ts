import { apiVersionOf } from "../kube/resource.ts";
import type { Catalogue } from "./catalogue.ts";
import { jsonReply, type Reply } from "./exchange.ts";
import type { ServedResource } from "./served-resource.ts";

/**
 * OpenAPI v3 as far as kubectl needs it: that field validation happens on the server, and the schemas of custom
 * resources for `kubectl explain`. Other paths are undefined.
 */
export function openApiReply(path: string, catalogue: Catalogue): Reply | undefined {
  if (path === "/openapi/v3") return jsonReply(200, index(catalogue));
  const [, root] = /^\/openapi\/v3\/((?:api|apis)\/.+)$/.exec(path) ?? [];
  const resources = catalogue.all().filter((resource) => rootOf(resource) === root);
  return resources.length > 0 ? jsonReply(200, documentOf(resources)) : undefined;
}

function index(catalogue: Catalogue): object {
  const roots = [...new Set(catalogue.all().map(rootOf))];
  return { paths: Object.fromEntries(roots.map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}` }])) };
}

function rootOf(resource: ServedResource): string {
  return `${resource.group === "" ? "api" : "apis"}/${apiVersionOf(resource)}`;
}

function documentOf(resources: readonly ServedResource[]): object {
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.36.3+sandbox" },
    paths: Object.fromEntries(resources.map((resource) => [pathOf(resource), operationsOf(resource)])),
    components: {
      schemas: Object.fromEntries(resources.map((resource) => [schemaName(resource), schemaOf(resource)])),
    },
  };
}

function pathOf(resource: ServedResource): string {
  const scope = resource.namespaced ? "/namespaces/{namespace}" : "";
  return `/${rootOf(resource)}${scope}/${resource.plural}/{name}`;
}

function operationsOf(resource: ServedResource): object {
  const { group, version, kind } = resource;
  const parameters = ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({
    name,
    in: "query",
    schema: { type: "string", uniqueItems: true },
  }));
  const gvk = { "x-kubernetes-group-version-kind": { group, version, kind } };
  const content = { "application/json": { schema: { $ref: `#/components/schemas/${schemaName(resource)}` } } };
  return {
    get: { ...gvk, "x-kubernetes-action": "get", responses: { "200": { description: "OK", content } } },
    patch: { ...gvk, "x-kubernetes-action": "patch", parameters, responses: { "200": { description: "OK", content } } },
  };
}

function schemaName({ group, version, kind }: ServedResource): string {
  return [...group.split(".").reverse(), version, kind].filter((part) => part !== "").join(".");
}

function schemaOf({ schema, group, version, kind }: ServedResource): object {
  const gvk = { "x-kubernetes-group-version-kind": [{ group, version, kind }] };
  if (!schema) return { type: "object", ...gvk };
  const head = { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" } };
  return { ...schema, properties: { ...head, ...schema.properties }, ...gvk };
}

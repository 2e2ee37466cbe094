import { aggregatedDiscovery } from "./aggregated-discovery.ts";
import type { Call } from "./call.ts";
import type { Catalogue } from "./catalogue.ts";
import { jsonReply, type Reply, textReply } from "./exchange.ts";
import { formatOf } from "./negotiation.ts";
import { openApiReply } from "./open-api.ts";
import { reviews } from "./reviews.ts";
import type { ServedResource } from "./served-resource.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** The answer for a path that names no resource, or undefined when there is nothing. */
export function discoveryReply(call: Call, catalogue: Catalogue): Reply | undefined {
  const path = call.path.replace(/\/+$/, "") || "/";
  if (call.method !== "GET") return undefined;
  if (/^\/(healthz|livez|readyz)(\/|$)/.test(path)) return textReply(200, "ok");
  if (path === "/version") return jsonReply(200, version);
  if (path === "/api" || path === "/apis") return rootReply(call, catalogue, path);
  if (path === "/api/v1") return jsonReply(200, resourceList("", "v1", catalogue));
  const [, group, groupVersion] = /^\/apis\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  if (group !== undefined) return groupReply(group, groupVersion, catalogue);
  return openApiReply(path, catalogue);
}

const version = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.3+sandbox",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "node",
  platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
};

function rootReply({ accept }: Call, catalogue: Catalogue, path: "/api" | "/apis"): Reply {
  if (formatOf(accept, ["json", "discovery"]) === "discovery") {
    const contentType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    return { ...jsonReply(200, aggregatedDiscovery(catalogue, path === "/api")), contentType };
  }
  if (path === "/api") {
    const serverAddressByClientCIDRs = [{ clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1" }];
    return jsonReply(200, { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs });
  }
  const groups = groupNames(catalogue).map((name) => apiGroup(name, catalogue));
  return jsonReply(200, { kind: "APIGroupList", apiVersion: "v1", groups });
}

function groupReply(group: string, groupVersion: string | undefined, catalogue: Catalogue): Reply | undefined {
  const versions = versionsOf(group, catalogue);
  if (versions.length === 0) return undefined;
  if (groupVersion === undefined)
    return jsonReply(200, { kind: "APIGroup", apiVersion: "v1", ...apiGroup(group, catalogue) });
  return versions.includes(groupVersion) ? jsonReply(200, resourceList(group, groupVersion, catalogue)) : undefined;
}

/** All groups but the core one, built-in ones first. */
export function groupNames(catalogue: Catalogue): readonly string[] {
  const names = [...catalogue.all(), ...reviews].map(({ group }) => group);
  return [...new Set(names)].filter((name) => name !== "");
}

export function isBuiltInGroup(group: string, catalogue: Catalogue): boolean {
  const builtIn = catalogue.all().filter((resource) => !resource.custom);
  return [...builtIn, ...reviews].some((resource) => resource.group === group);
}

export function versionsOf(group: string, catalogue: Catalogue): readonly string[] {
  const served = catalogue.all().filter((resource) => resource.group === group);
  const versions = [...new Set(served.map((resource) => resource.version))];
  return versions.length === 0 && reviews.some((review) => review.group === group) ? ["v1"] : versions;
}

function apiGroup(name: string, catalogue: Catalogue) {
  const versions = versionsOf(name, catalogue).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

function resourceList(group: string, groupVersion: string, catalogue: Catalogue) {
  const own = catalogue.all().filter((resource) => resource.group === group && resource.version === groupVersion);
  const questions = groupVersion === "v1" ? reviews.filter((review) => review.group === group) : [];
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: group === "" ? groupVersion : `${group}/${groupVersion}`,
    resources: [
      ...own.flatMap(apiResources),
      ...questions.map(({ plural, kind, namespaced }) => ({
        name: plural,
        singularName: kind.toLowerCase(),
        namespaced,
        kind,
        verbs: ["create"],
      })),
    ],
  };
}

function apiResources(resource: ServedResource): readonly object[] {
  const { plural, singular, namespaced, kind, shortNames, categories } = resource;
  const main = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
  };
  if (resource.rules.status === "none") return [main];
  const status = { name: `${plural}/status`, singularName: "", namespaced, kind, verbs: ["get", "patch", "update"] };
  return [main, status];
}

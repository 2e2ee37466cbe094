import type { Catalogue } from "./catalogue.ts";
import { reviews } from "./reviews.ts";
import type { ServedResource } from "./served-resource.ts";

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** All of discovery in one document: what kubectl asks for first. */
export function aggregatedDiscovery(catalogue: Catalogue, core: boolean): object {
  const all = catalogue.all().filter((resource) => (resource.group === "") === core);
  const questions = core ? [] : reviews;
  const groups = [...new Set([...all, ...questions].map(({ group }) => group))];
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((group) => ({
      metadata: { name: group, creationTimestamp: null },
      versions: versionsIn(
        group,
        all.filter((resource) => resource.group === group),
      ),
    })),
  };
}

function versionsIn(group: string, resources: readonly ServedResource[]): readonly object[] {
  const questions = reviews.filter((review) => review.group === group).map(questionOf);
  const versions = new Set(resources.map(({ version }) => version));
  if (questions.length > 0) versions.add("v1");
  return [...versions].map((version) => ({
    version,
    freshness: "Current",
    resources: [
      ...resources.filter((resource) => resource.version === version).map(resourceOf),
      ...(version === "v1" ? questions : []),
    ],
  }));
}

function resourceOf(resource: ServedResource): object {
  const { plural, singular, namespaced, group, version, kind, shortNames, categories } = resource;
  const responseKind = { group, version, kind };
  return {
    resource: plural,
    responseKind,
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(resource.rules.status !== "none" && {
      subresources: [{ subresource: "status", responseKind, verbs: ["get", "patch", "update"] }],
    }),
  };
}

function questionOf({ group, plural, kind, namespaced }: (typeof reviews)[number]): object {
  return {
    resource: plural,
    responseKind: { group, version: "v1", kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: kind.toLowerCase(),
    verbs: ["create"],
  };
}

import { readFileSync } from "node:fs";
import { objectsIn, render, the } from "../chart/render.ts";
import type { PolicyRule } from "../control-plane/scoped-access.ts";

/** What an operator may do: in the cluster where it runs, in its own namespace there, and in the other clusters. */
export interface Rights {
  readonly local: readonly PolicyRule[];
  readonly own: readonly PolicyRule[];
  readonly remote: readonly PolicyRule[];
}

/** The rights that the chart and `deploy/remote/rbac.yaml` give, and no others. */
export async function shippedRights(): Promise<Rights> {
  const objects = await render();
  const local = the(objects, "ClusterRole").rules ?? [];
  const own = the(objects, "Role").rules ?? [];
  return { local, own, remote: remoteRights() };
}

/** What `deploy/remote/rbac.yaml` gives in a cluster that is not the operator's. */
export function remoteRights(): readonly PolicyRule[] {
  return the(objectsIn(readFileSync("deploy/remote/rbac.yaml", "utf8")), "ClusterRole").rules ?? [];
}

/** The same rights without one verb on Peers. */
export function withoutPeerVerb(rules: readonly PolicyRule[], verb: string): PolicyRule[] {
  return rules.map((rule) => {
    const isPeers = rule.resources?.includes("peers") ?? false;
    return isPeers ? { ...rule, verbs: rule.verbs.filter((own) => own !== verb) } : rule;
  });
}

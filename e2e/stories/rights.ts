import { readFileSync } from "node:fs";
import { objectsIn, render, the } from "../chart/render.ts";
import type { PolicyRule } from "../control-plane/scoped-access.ts";

/** What an operator may do: where it runs, and in the clusters that it reaches through a kubeconfig. */
export interface Rights {
  readonly local: readonly PolicyRule[];
  readonly remote: readonly PolicyRule[];
}

/** The rights that the chart and `deploy/remote/rbac.yaml` give, and no others. */
export async function shippedRights(): Promise<Rights> {
  const local = the(await render(), "ClusterRole").rules ?? [];
  const remote = the(objectsIn(readFileSync("deploy/remote/rbac.yaml", "utf8")), "ClusterRole").rules ?? [];
  return { local, remote };
}

/** The same rights without one verb on Peers. */
export function withoutPeerVerb(rules: readonly PolicyRule[], verb: string): PolicyRule[] {
  return rules.map((rule) => {
    const isPeers = rule.resources?.includes("peers") ?? false;
    return isPeers ? { ...rule, verbs: rule.verbs.filter((own) => own !== verb) } : rule;
  });
}

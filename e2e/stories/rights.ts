import { readFileSync } from "node:fs";
import { objectsIn, render, the } from "../chart/render.ts";
import type { PolicyRule } from "../control-plane/scoped-access.ts";

/** What an operator may do: in the cluster where it runs, in its own namespace there, and in the other clusters. */
export interface Rights {
  readonly local: readonly PolicyRule[];
  readonly own: readonly PolicyRule[];
  readonly remote: readonly PolicyRule[];
}

export interface Asked {
  /** The optional right to set Kilo's keepalive on nodes. */
  readonly nodeKeepalive?: boolean;
}

/** The rights that the chart and `deploy/remote/rbac.yaml` give, and no others. */
export async function shippedRights(asked: Asked = {}): Promise<Rights> {
  const objects = await render({ nodeKeepalive: { enabled: asked.nodeKeepalive ?? false } });
  const local = the(objects, "ClusterRole").rules ?? [];
  const own = the(objects, "Role").rules ?? [];
  return { local, own, remote: remoteRights(asked) };
}

/** As `deploy/remote/rbac.yaml` gives them; the optional one is a comment there. */
export function remoteRights({ nodeKeepalive = false }: Asked = {}): readonly PolicyRule[] {
  const text = readFileSync("deploy/remote/rbac.yaml", "utf8");
  const read = nodeKeepalive ? text.replace(/^ {2}# (?=- |[ ]{2})/gm, "  ") : text;
  return the(objectsIn(read), "ClusterRole").rules ?? [];
}

/** The same rights without one verb on Peers. */
export function withoutPeerVerb(rules: readonly PolicyRule[], verb: string): PolicyRule[] {
  return rules.map((rule) => {
    const isPeers = rule.resources?.includes("peers") ?? false;
    return isPeers ? { ...rule, verbs: rule.verbs.filter((own) => own !== verb) } : rule;
  });
}

import type { KubeconfigLicence } from "../kube/kubeconfig.ts";

/** How one operator is set up; read once, passed down. */
export interface OperatorConfig {
  /** Marks this operator's Peers. Empty: made from the UID of the local kube-system namespace. */
  readonly instance: string;
  readonly leaderElection: false | { readonly namespace: string; readonly identity: string };
  /** What kubeconfigs in Secrets may do beyond the ordinary. */
  readonly allow: ReadonlySet<KubeconfigLicence>;
}

const licences: readonly KubeconfigLicence[] = ["insecure-tls", "proxy", "loopback"];

/** `insecure-tls,loopback` → the set; an unknown word is an error that names the known ones. */
export function parseLicences(text: string): Set<KubeconfigLicence> {
  const words = text.split(",").filter((word) => word !== "");
  const isLicence = (word: string): word is KubeconfigLicence => licences.some((licence) => licence === word);
  const wrong = words.filter((word) => !isLicence(word));
  if (wrong.length > 0) throw new Error(`unknown: ${wrong.join(", ")}; known are ${licences.join(", ")}`);
  return new Set(words.filter(isLicence));
}

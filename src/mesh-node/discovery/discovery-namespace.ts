import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface NamespaceChoice {
  readonly namespace: string;
  readonly from: "configuration" | "service account" | "default";
}

/** Where the kubelet puts the service account's files. */
export const serviceAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The namespace to search: the one that was asked for, else the pod's own, else `default`. */
export function chooseNamespace(asked: string | undefined, directory: string): NamespaceChoice {
  if (asked) return { namespace: asked, from: "configuration" };
  const own = tryRead(join(directory, "namespace"))?.trim();
  return own ? { namespace: own, from: "service account" } : { namespace: "default", from: "default" };
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

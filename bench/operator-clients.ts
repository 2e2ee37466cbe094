import type { KubeClient } from "../src/kube/client.ts";
import { createClient } from "../src/kube/http-client.ts";
import { parseKubeconfig } from "../src/kube/kubeconfig.ts";

/** The operator's own client, for a kubeconfig of this machine. */
export function clientOf(cluster: string, kubeconfig: string, userAgent: string): KubeClient {
  const reading = parseKubeconfig(kubeconfig, { allow: new Set(["loopback"]) });
  if (!reading.ok) throw new Error(`the kubeconfig of ${cluster} is refused`);
  return createClient(reading.connection, { cluster, userAgent });
}

import { join } from "node:path";
import { binary } from "./binaries.ts";
import { type Supervised, startSupervised } from "./supervised.ts";

const controllers = [
  "endpointslice-controller",
  "serviceaccount-token-controller",
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
];

export interface ControllerManagerOptions {
  readonly folder: string;
  readonly kubeconfigFile: string;
  readonly serviceAccountKeyFile: string;
}

/** The controllers that our stories meet. It serves no port, so it is not known when it is ready: wait for its work. */
export function startControllerManager(options: ControllerManagerOptions): Promise<Supervised> {
  return startSupervised({
    command: binary("kube-controller-manager"),
    args: [
      `--kubeconfig=${options.kubeconfigFile}`,
      `--controllers=${controllers.join(",")}`,
      `--service-account-private-key-file=${options.serviceAccountKeyFile}`,
      "--leader-elect=false",
      "--secure-port=0",
    ],
    logFile: join(options.folder, "kube-controller-manager.log"),
    graceMs: 1_000,
  });
}

import type { Access } from "./request.ts";

/** A kubeconfig with everything in it: it works from any folder and any process of this machine. */
export function kubeconfigOf(name: string, access: Access & { readonly token: string }): string {
  return `apiVersion: v1
kind: Config
clusters:
  - name: ${name}
    cluster:
      server: ${access.url}
      certificate-authority-data: ${Buffer.from(access.caPem).toString("base64")}
users:
  - name: ${name}
    user:
      token: ${access.token}
contexts:
  - name: ${name}
    context:
      cluster: ${name}
      user: ${name}
current-context: ${name}
`;
}

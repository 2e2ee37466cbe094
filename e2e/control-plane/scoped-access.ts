import { kubeconfigOf } from "./kubeconfig.ts";
import { type Access, applyObject, askFor } from "./request.ts";

export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

/** A ServiceAccount and what it may do. Rights may be given again later with the same name; they replace the old. */
export interface ScopedAccess {
  readonly name: string;
  /** Of the ServiceAccount, and of what `roleRules` allow; made when it is not there. */
  readonly namespace?: string;
  readonly clusterRoleRules?: readonly PolicyRule[];
  readonly roleRules?: readonly PolicyRule[];
  /** The server allows no less than 600. */
  readonly expirationSeconds?: number;
}

const rbac = "rbac.authorization.k8s.io";

/** A kubeconfig whose token the server has issued for a ServiceAccount with these rights and no others. */
export async function scopedKubeconfig(admin: Access, scope: ScopedAccess): Promise<string> {
  const { name, namespace = "default", clusterRoleRules, roleRules } = scope;
  const home = `/api/v1/namespaces/${namespace}`;
  await applyObject(admin, home, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const account = `${home}/serviceaccounts/${name}`;
  await applyObject(admin, account, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
  const grant = { name, namespace };
  if (clusterRoleRules) await allow(admin, { ...grant, kind: "ClusterRole", rules: clusterRoleRules });
  if (roleRules) await allow(admin, { ...grant, kind: "Role", rules: roleRules });
  const token = await requestToken(admin, account, scope.expirationSeconds ?? 3600);
  return kubeconfigOf(name, { ...admin, token });
}

interface Grant {
  readonly name: string;
  readonly namespace: string;
  readonly kind: "Role" | "ClusterRole";
  readonly rules: readonly PolicyRule[];
}

async function allow(admin: Access, grant: Grant): Promise<void> {
  const { name, namespace, kind, rules } = grant;
  const scope = kind === "Role" ? `namespaces/${namespace}/` : "";
  const base = `/apis/${rbac}/v1/${scope}${kind.toLowerCase()}`;
  const apiVersion = `${rbac}/v1`;
  await applyObject(admin, `${base}s/${name}`, { apiVersion, kind, metadata: { name }, rules });
  await applyObject(admin, `${base}bindings/${name}`, {
    apiVersion,
    kind: `${kind}Binding`,
    metadata: { name },
    roleRef: { apiGroup: rbac, kind, name },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  });
}

async function requestToken(admin: Access, account: string, expirationSeconds: number): Promise<string> {
  const answer = await askFor<{ status: { token: string } }>(admin, {
    method: "POST",
    path: `${account}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds } },
  });
  return answer.status.token;
}

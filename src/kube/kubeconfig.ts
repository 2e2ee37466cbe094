import type { ConnectionConfig } from "./connection-config.ts";
import { type KubeconfigLicence, readCluster } from "./kubeconfig-cluster.ts";
import { type FieldProblem, Fields } from "./kubeconfig-fields.ts";
import { readUser } from "./kubeconfig-user.ts";
import { readUntrustedYaml } from "./kubeconfig-yaml.ts";

export type { KubeconfigLicence };

export interface KubeconfigOptions {
  readonly allow: ReadonlySet<KubeconfigLicence>;
  /** Absent: the file's `current-context`. */
  readonly context?: string;
}

export type KubeconfigProblem = FieldProblem;

export type KubeconfigReading =
  | { readonly ok: true; readonly connection: ConnectionConfig }
  | { readonly ok: false; readonly problems: readonly KubeconfigProblem[] };

/** Reads a kubeconfig somebody else wrote. All problems of the chosen context are named at once, no secret in any. */
export function parseKubeconfig(text: string, options: KubeconfigOptions): KubeconfigReading {
  const yaml = readUntrustedYaml(text);
  if (!yaml.ok) return { ok: false, problems: [{ path: "kubeconfig", message: yaml.why }] };
  const problems: KubeconfigProblem[] = [];
  const root = new Fields(yaml.value ?? {}, "", problems);
  const connection = problems.length === 0 ? readConnection(root, options) : undefined;
  return connection && problems.length === 0 ? { ok: true, connection } : { ok: false, problems };
}

function readConnection(root: Fields, options: KubeconfigOptions): ConnectionConfig | undefined {
  const name = options.context ?? root.text("current-context");
  if (!name) return root.problem("current-context", "is missing; set it to the context to use");
  const context = root.named("contexts", name, "context");
  const cluster = context && entry(context, "cluster", root);
  const user = context && entry(context, "user", root);
  const server = cluster && readCluster(cluster, options.allow);
  const credential = user && readUser(user);
  return server && credential && { ...server, ...credential };
}

function entry(context: Fields, role: "cluster" | "user", root: Fields): Fields | undefined {
  const name = context.text(role);
  return name ? root.named(`${role}s`, name, role) : context.problem(role, "is missing");
}

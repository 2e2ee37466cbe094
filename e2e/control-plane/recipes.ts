import { readFileSync } from "node:fs";
import { join } from "node:path";

export type BinaryName =
  | "kube-apiserver"
  | "kube-apiserver-oldest"
  | "kube-controller-manager"
  | "etcd"
  | "kubectl"
  | "helm";

/** One program of the real control plane: how it is built, and the environment variable that names it. */
export interface Recipe {
  readonly name: BinaryName;
  readonly variable: string;
  /** Folder under `go/` whose go.mod and go.sum pin every version. */
  readonly module: string;
  /** The Go package that holds `main`. */
  readonly package: string;
  /** The Go module whose required version is the version of this program. */
  readonly source: string;
  /** File name in `KUBEBUILDER_ASSETS`, where that may stand in for ours. */
  readonly asset?: string;
}

const kubernetes = "k8s.io/kubernetes";
const newest = { module: "kubernetes-1.36", source: kubernetes };
const oldest = { module: "kubernetes-1.28", source: kubernetes };
const etcd = "go.etcd.io/etcd/server/v3";
const helm = "helm.sh/helm/v3";

/** In the order in which they are built: what most people wait for comes first. */
export const recipes: readonly Recipe[] = [
  {
    ...newest,
    name: "kube-apiserver",
    variable: "KUBE_APISERVER",
    package: `${kubernetes}/cmd/kube-apiserver`,
    asset: "kube-apiserver",
  },
  { name: "etcd", variable: "ETCD", module: "etcd", package: etcd, source: etcd, asset: "etcd" },
  {
    ...newest,
    name: "kube-controller-manager",
    variable: "KUBE_CONTROLLER_MANAGER",
    package: `${kubernetes}/cmd/kube-controller-manager`,
  },
  { ...newest, name: "kubectl", variable: "KUBECTL", package: `${kubernetes}/cmd/kubectl`, asset: "kubectl" },
  {
    ...oldest,
    name: "kube-apiserver-oldest",
    variable: "KUBE_APISERVER_OLDEST",
    package: `${kubernetes}/cmd/kube-apiserver`,
  },
  { name: "helm", variable: "HELM", module: "helm", package: `${helm}/cmd/helm`, source: helm },
];

export function recipeOf(name: string): Recipe {
  const recipe = recipes.find((candidate) => candidate.name === name);
  if (!recipe) throw new Error(`no program "${name}"; known: ${recipes.map((known) => known.name).join(", ")}`);
  return recipe;
}

export function moduleFolder(recipe: Recipe): string {
  return join(import.meta.dirname, "go", recipe.module);
}

/** The version that go.mod pins, for example v1.36.3. */
export function versionOf(recipe: Recipe): string {
  return requiredVersion(recipe, recipe.source);
}

/** Without these a Kubernetes program says that it is v0.0.0, and helm renders charts for Kubernetes 1.20. */
export function linkerFlags(recipe: Recipe): string {
  const variables = Object.entries(linkerVariables(recipe)).map(([name, value]) => `-X ${name}=${value}`);
  return ["-s -w", ...variables].join(" ");
}

function linkerVariables(recipe: Recipe): Record<string, string> {
  const version = versionOf(recipe);
  if (recipe.source === kubernetes) return kubernetesVariables(version);
  return recipe.source === helm ? helmVariables(version, requiredVersion(recipe, "k8s.io/client-go")) : {};
}

function kubernetesVariables(version: string): Record<string, string> {
  const [gitMajor = "", gitMinor = ""] = version.slice(1).split(".");
  return {
    ...variablesIn("k8s.io/component-base/version", { gitVersion: version, gitMajor, gitMinor }),
    ...variablesIn("k8s.io/client-go/pkg/version", { gitVersion: version, gitMajor, gitMinor }),
  };
}

function helmVariables(version: string, clientGo: string): Record<string, string> {
  const [, k8sVersionMinor = ""] = clientGo.split(".");
  return {
    ...variablesIn(`${helm}/internal/version`, { version }),
    ...variablesIn(`${helm}/pkg/chartutil`, { k8sVersionMajor: "1", k8sVersionMinor }),
    ...variablesIn(`${helm}/pkg/lint/rules`, { k8sVersionMajor: "1", k8sVersionMinor }),
  };
}

function variablesIn(name: string, values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([variable, value]) => [`${name}.${variable}`, value]));
}

function requiredVersion(recipe: Recipe, dependency: string): string {
  const goMod = readFileSync(join(moduleFolder(recipe), "go.mod"), "utf8");
  const lines = goMod.split("\n").map((line) => line.replace(/^require/, "").trim());
  const version = lines.find((line) => line.startsWith(`${dependency} v`))?.split(" ")[1];
  if (!version) throw new Error(`${recipe.module}/go.mod requires no ${dependency}`);
  return version;
}

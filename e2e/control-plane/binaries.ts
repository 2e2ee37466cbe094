import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type BinaryName, linkerFlags, moduleFolder, type Recipe, recipeOf } from "./recipes.ts";

export type Location =
  | { readonly state: "ready"; readonly path: string }
  /** Not there yet; a build puts it at `path`. */
  | { readonly state: "missing"; readonly path: string }
  | { readonly state: "unavailable"; readonly reason: string };

/** The order of the lines of `--print`. */
export const allBinaries: readonly BinaryName[] = [
  "kube-apiserver",
  "kube-apiserver-oldest",
  "kube-controller-manager",
  "etcd",
  "kubectl",
  "helm",
];

/** Where a program is: named by its own variable, in `KUBEBUILDER_ASSETS`, or in the cache, in this order. */
export function locate(recipe: Recipe, env: NodeJS.ProcessEnv = process.env): Location {
  return named(recipe, env) ?? asset(recipe, env) ?? cached(recipe, env);
}

/** The path of a program that must be there already; the error says what to run. */
export function binary(name: BinaryName): string {
  const location = locate(recipeOf(name));
  if (location.state === "ready") return location.path;
  throw new Error(`${name}: ${reasonOf(location)}`);
}

/** One line that says why the real control plane cannot run here; nothing when it can. */
export function whyNoControlPlane(names: readonly BinaryName[] = allBinaries): string | undefined {
  for (const name of names) {
    const location = locate(recipeOf(name));
    if (location.state !== "ready") return `${name}: ${reasonOf(location)}`;
  }
  return undefined;
}

function reasonOf(location: Exclude<Location, { readonly state: "ready" }>): string {
  return location.state === "missing" ? "not built yet; run `npm run control-plane`" : location.reason;
}

function named(recipe: Recipe, env: NodeJS.ProcessEnv): Location | undefined {
  const path = env[recipe.variable];
  if (!path) return undefined;
  if (isProgram(path)) return { state: "ready", path };
  return { state: "unavailable", reason: `${recipe.variable} names no program: ${path}` };
}

function asset(recipe: Recipe, env: NodeJS.ProcessEnv): Location | undefined {
  const folder = env.KUBEBUILDER_ASSETS;
  if (!folder || !recipe.asset) return undefined;
  const path = join(folder, recipe.asset);
  return isProgram(path) ? { state: "ready", path } : undefined;
}

function cached(recipe: Recipe, env: NodeJS.ProcessEnv): Location {
  const go = goVersion(recipe);
  if (!go) return { state: "unavailable", reason: "Go is not installed, so it cannot be built" };
  const root = env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const path = join(root, "kilo-clustermesh", "control-plane", keyOf(recipe, go), recipe.name);
  return { state: isProgram(path) ? "ready" : "missing", path };
}

function goVersion(recipe: Recipe): string | undefined {
  try {
    return execFileSync("go", ["env", "GOVERSION"], { cwd: moduleFolder(recipe), stdio: "pipe" })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}

function keyOf(recipe: Recipe, go: string): string {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleFolder(recipe), file)));
  hash.update([go, process.platform, process.arch, linkerFlags(recipe)].join("\n"));
  return `${recipe.module}-${hash.digest("hex").slice(0, 16)}`;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

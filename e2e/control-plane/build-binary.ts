import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { locate } from "./binaries.ts";
import { withLock } from "./lock.ts";
import { linkerFlags, moduleFolder, type Recipe, versionOf } from "./recipes.ts";

export type Progress = (line: string) => void;

const stillThereMs = 15_000;

/** The path of the program, built first when the cache has none. Callers may run at the same time: one builds. */
export async function ensureBinary(recipe: Recipe, progress: Progress): Promise<string> {
  const location = locate(recipe);
  if (location.state === "unavailable") throw new Error(`${recipe.name}: ${location.reason}`);
  if (location.state === "ready") return location.path;
  await mkdir(dirname(location.path), { recursive: true });
  await withLock(`${location.path}.lock`, async () => {
    if (locate(recipe).state !== "ready") await build(recipe, location.path, progress);
  });
  return location.path;
}

async function build(recipe: Recipe, path: string, progress: Progress): Promise<void> {
  const label = `${recipe.name} ${versionOf(recipe)}`;
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  progress(`building ${label} (minutes the first time)`);
  const life = setInterval(() => progress(`still building ${label}, ${seconds()} s`), stillThereMs);
  const folder = await mkdtemp(join(dirname(path), "building-"));
  try {
    const output = join(folder, recipe.name);
    await goBuild(recipe, output);
    await rename(output, path);
    progress(`built ${label} in ${seconds()} s`);
  } finally {
    clearInterval(life);
    await rm(folder, { recursive: true, force: true });
  }
}

async function goBuild(recipe: Recipe, output: string): Promise<void> {
  const flags = ["-mod=readonly", "-p", "2", "-trimpath", "-buildvcs=false", "-ldflags", linkerFlags(recipe)];
  const go = spawn("go", ["build", ...flags, "-o", output, recipe.package], {
    cwd: moduleFolder(recipe),
    env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "", GOWORK: "off" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<number | null>((resolve, reject) => go.on("error", reject).on("close", resolve));
  const [messages, code] = await Promise.all([text(go.stderr), ended]);
  if (code !== 0) throw new Error(`go build ${recipe.package} failed:\n${messages.slice(-4000)}`);
}

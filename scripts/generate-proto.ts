import { spawnSync } from "node:child_process";
import { delimiter, resolve } from "node:path";

/** Checks proto/ and writes what it makes below `folder` at the place where it is in the tree. Throws what buf says. */
export function generateProto(folder: string): void {
  buf("lint");
  buf("generate", "--output", folder);
}

function buf(...words: readonly string[]): void {
  const PATH = [resolve("node_modules/.bin"), process.env.PATH].join(delimiter);
  const { status, stdout, stderr, error } = spawnSync("buf", words, {
    encoding: "utf8",
    env: { ...process.env, PATH },
  });
  if (status !== 0) throw new Error(`buf ${words[0]} failed: ${error?.message ?? `${stdout}${stderr}`}`);
}

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bundleInto } from "../e2e/operator/real-mesh.ts";

/** What the image holds, laid out in a folder of this machine, and how it is started. */
export interface Image {
  readonly bundle: string;
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Builds the image in `folder`, once: the bundle alone, and what its RUN leaves behind. */
export function layImage(folder: string): Image {
  const root = join(folder, "image");
  const env = { ...instructed("ENV"), NODE_COMPILE_CACHE: join(root, "cache") };
  const image = { bundle: join(root, "operator.mjs"), flags: wordsBefore("ENTRYPOINT"), env };
  if (existsSync(root)) return image;
  mkdirSync(root);
  bundleInto(root);
  execFileSync(process.execPath, [...wordsBefore("RUN"), image.bundle, "--version"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return image;
}

function instruction(name: string): string {
  const found = new RegExp(`^${name} (.*)$`, "m").exec(readFileSync("Containerfile", "utf8"))?.[1];
  if (!found) throw new Error(`the Containerfile has no ${name} of one line`);
  return found;
}

const instructed = (name: string): Record<string, string> =>
  Object.fromEntries(
    instruction(name)
      .split(" ")
      .map((pair) => pair.split("=", 2)),
  );

/** What an instruction tells Node: all that stands before the bundle. */
function wordsBefore(name: string): string[] {
  const words = JSON.parse(instruction(name)) as string[];
  return words.slice(
    1,
    words.findIndex((word) => word.endsWith(".mjs")),
  );
}

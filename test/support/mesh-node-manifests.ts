import { readFileSync } from "node:fs";
import { Command } from "commander";
import type { NodeConfig } from "../../src/mesh-node/config/config.ts";
import { addNodeFlags } from "../../src/mesh-node/config/flags.ts";
import { readConfig } from "../../src/mesh-node/config/read-config.ts";

export const guideFile = "docs/guides/mesh-node-in-kubernetes.md";
export const sidecarFile = "deploy/mesh-node/sidecar.yaml";

/** The blocks of the guide in one language. */
export function guideBlocks(language: "sh" | "yaml" | "helm"): string[] {
  const text = readFileSync(guideFile, "utf8");
  const blocks = text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"));
  return [...blocks].flatMap((match) => match[1] ?? []);
}

/** What the program makes of the arguments of a container; of the key file only the path is looked at. */
export function configOf(args: readonly string[]): NodeConfig {
  const command = addNodeFlags(new Command("mesh-node"))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  command.parse(
    args.filter((word) => !word.startsWith("--shared-key-file=")),
    { from: "user" },
  );
  return readConfig(command, { POD_NAME: "pod-a" });
}

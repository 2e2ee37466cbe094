import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { binary } from "../control-plane/binaries.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";

const run = promisify(execFile);

/** The blocks of a guide in one language: what a reader copies. */
export function blocksOf(guide: string, language: "sh" | "yaml"): string[] {
  const text = readFileSync(`docs/guides/${guide}.md`, "utf8");
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].flatMap(
    (match) => match[1] ?? [],
  );
}

export interface Reader {
  /** Types the commands into a shell in the root of a checkout; a failing command throws. */
  types(commands: string | undefined): Promise<string>;
  saves(name: string, text: string | undefined): void;
}

/** Somebody who follows the guides with `LOCAL` and `REMOTE` set, kubectl and helm at hand, and nothing else. */
export function reader(folder: string, local: RealCluster, remote: RealCluster): Reader {
  const checkout = mkdtempSync(join(folder, "checkout-"));
  for (const name of ["charts", "deploy"]) symlinkSync(resolve(name), join(checkout, name));
  const env = {
    PATH: [dirname(binary("kubectl")), dirname(binary("helm")), process.env.PATH].join(delimiter),
    HOME: checkout,
    TMPDIR: checkout,
    KUBECONFIG: local.kubeconfigFile,
    LOCAL: local.kubeconfigFile,
    REMOTE: remote.kubeconfigFile,
  };
  return {
    types: async (commands) => {
      if (!commands) throw new Error("the guide has no such block");
      const { stdout, stderr } = await run("bash", ["--norc", "-eo", "pipefail", "-c", commands], {
        cwd: checkout,
        env,
        timeout: 90_000,
      });
      return `${stdout}${stderr}`;
    },
    saves: (name, text) => {
      if (!text) throw new Error("the guide has no such block");
      writeFileSync(join(checkout, name), text);
    },
  };
}

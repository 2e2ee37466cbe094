import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, test } from "vitest";

/** Where the control plane of an own network listens. */
export const controlPlaneIp = "10.44.0.1";

/** User, network and process ids of its own; when its first process ends, so does every other. */
const unshare = ["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
const longestMs = 300_000;

/**
 * Runs these tests in a network of their own, which has the addresses 10.44.0.1 to 10.44.0.99 and leads nowhere else.
 * Outside, the file is one test, which runs the file again inside.
 */
export function describeInOwnNetwork(title: string, file: string, tests: () => void): void {
  if (isInside()) describe(title, tests);
  else runInside(title, relative(process.cwd(), file));
}

function runInside(title: string, shown: string): void {
  test(`${title}: every test of ${shown} in a network of its own`, { timeout: longestMs }, async ({ skip }) => {
    const problem = whyNot();
    if (problem) return skip(`no network namespace can be made here: ${problem}`);
    const folder = mkdtempSync(join(tmpdir(), "own-network-"));
    const inside = start(shown, folder);
    const end = () => inside.kill("SIGKILL");
    // The one who started this process is gone, and nobody else would end what runs inside.
    process.once("disconnect", end);
    try {
      const [code] = (await once(inside, "exit")) as [number | null];
      if (code !== 0) throw new Error(`tests of ${shown} failed in their own network; see above`);
    } finally {
      end();
      process.off("disconnect", end);
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    }
  });
}

function isInside(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === controlPlaneIp),
  );
}

function whyNot(): string | undefined {
  const { status, stderr, error } = spawnSync("unshare", [...unshare, "ip", "link", "set", "lo", "up"]);
  return status === 0 ? undefined : (error?.message ?? stderr.toString().trim());
}

/** Its stdin stays open as long as this process lives: that is how it notices our end. */
function start(file: string, folder: string): ChildProcess {
  const program = join(import.meta.dirname, "inside.ts");
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
  return spawn("unshare", [...unshare, process.execPath, program, file], {
    stdio: ["pipe", "inherit", "inherit"],
    env: { ...Object.fromEntries(ours), TMPDIR: folder },
  });
}

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Runs a shell command in a mount namespace of its own, with a file system of 500 kB at `/mnt`. */
function onSmallDisk(command: string): { readonly status: number | null; readonly stdout: string } {
  const mounted = `mount -t tmpfs -o size=500k small /mnt && ${command}`;
  return spawnSync("unshare", ["--user", "--map-root-user", "--mount", "sh", "-c", mounted], { encoding: "utf8" });
}

const canMount = onSmallDisk("true").status === 0;

it.skipIf(!canMount)("a disk that is really full fails the put and nothing else (needs user namespaces)", () => {
  const script = join(import.meta.dirname, "../../../test/support/filling-process.ts");
  const run = onSmallDisk(`"${process.execPath}" "${script}" /mnt/data /mnt/filler`);
  const report = JSON.parse(run.stdout);
  expect(report.failure).toMatch(/no space is left on its disk \(ENOSPC\)$/);
  expect(report.acknowledged).toBeGreaterThan(10);
  expect(report.whenFull).toBe(report.acknowledged - 1);
  expect(report.afterwards).toBe(report.acknowledged);
  expect(report.reopened).toBe(report.acknowledged);
});

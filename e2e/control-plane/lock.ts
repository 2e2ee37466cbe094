import { link, readFile, rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 500;

/** Runs `work` while no other process of this machine runs under the same lock file. A dead holder's lock is taken. */
export async function withLock(file: string, work: () => Promise<void>): Promise<void> {
  while (!(await acquire(file))) {
    if (!(await holderLives(file))) await rm(file, { force: true });
    else await sleep(pollMs);
  }
  try {
    await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function acquire(file: string): Promise<boolean> {
  const own = `${file}.${process.pid}`;
  await writeFile(own, String(process.pid));
  try {
    // A link appears together with its content: nobody ever reads a lock without a holder.
    await link(own, file);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

async function holderLives(file: string): Promise<boolean> {
  try {
    process.kill(Number(await readFile(file, "utf8")), 0);
    return true;
  } catch (error) {
    return isCode(error, "EPERM") || isCode(error, "ENOENT");
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

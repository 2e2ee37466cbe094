import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { type DocumentStore, openDocuments } from "../../src/mesh-node/documents/open-documents.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLogger } from "../../src/runtime/log.ts";

export interface KillOptions {
  readonly directory: string;
  readonly rounds: number;
  readonly random: () => number;
}

export interface KillReport {
  readonly acknowledged: number;
  /** Rounds in which the process was killed while it was putting. */
  readonly killedWhilePutting: number;
  /** Acknowledged documents that were not there, or older than acknowledged, afterwards. */
  readonly lost: readonly string[];
}

/** Starts a process that puts documents, kills it with SIGKILL at a random moment, and looks, again and again. */
export async function killRounds({ directory, rounds, random }: KillOptions): Promise<KillReport> {
  const acknowledged = new Map<string, number>();
  const lost: string[] = [];
  let count = 0;
  let killedWhilePutting = 0;
  for (let round = 0; round < rounds; round++) {
    const lines = await putAndKill(directory, round * 1_000_000, random);
    if (lines.length > 0) killedWhilePutting++;
    count += lines.length;
    for (const [id = "", number] of lines.map((line) => line.split(" ")))
      acknowledged.set(id, Math.max(acknowledged.get(id) ?? 0, Number(number)));
    const documents = await openDocuments({ directory, clock: systemClock, log: silentLogger });
    lost.push(...(await missing(documents, acknowledged)));
    await documents.close();
  }
  return { acknowledged: count, killedWhilePutting, lost };
}

/** Kills it some moments after one of its first acknowledgements. Returns the lines it printed before it died. */
async function putAndKill(directory: string, first: number, random: () => number): Promise<readonly string[]> {
  const script = new URL("./putting-process.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, directory, `${first}`], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  const enough = Math.floor(random() * 40);
  const reached = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line !== "ready") lines.push(line);
    if (lines.length >= enough) reached.resolve();
  });
  const closed = once(child, "close");
  await Promise.race([reached.promise, closed]);
  await delay(random() * 8);
  const isKilled = child.kill("SIGKILL");
  await closed;
  if (!isKilled) throw new Error(`the process ended by itself with ${child.exitCode}`);
  return lines;
}

async function missing(documents: DocumentStore, acknowledged: ReadonlyMap<string, number>): Promise<string[]> {
  const held = new Map((await documents.list("c")).map(({ id, json }) => [id, Number(JSON.parse(json).number)]));
  return [...acknowledged].filter(([id, number]) => !((held.get(id) ?? -1) >= number)).map(([id]) => id);
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { killRounds } from "../support/kill-rounds.ts";

it("a process that is killed 100 times while it puts loses no document that it acknowledged", async () => {
  const directory = await mkdtemp(join(tmpdir(), "documents-kill-"));
  try {
    const report = await killRounds({ directory, rounds: 100, random: Math.random });
    console.log(`${report.acknowledged} acknowledged, ${report.killedWhilePutting} of 100 kills while putting`);
    expect(report.lost).toEqual([]);
    expect(report.killedWhilePutting).toBeGreaterThanOrEqual(80);
  } finally {
    await rm(directory, { recursive: true });
  }
}, 600_000);

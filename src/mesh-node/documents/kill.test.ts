import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { killRounds } from "../../../test/support/kill-rounds.ts";

it("a process that is killed while it puts loses no document that it acknowledged", async () => {
  const directory = await mkdtemp(join(tmpdir(), "documents-kill-"));
  try {
    const report = await killRounds({ directory, rounds: 8, random: Math.random });
    expect(report.lost).toEqual([]);
    expect(report.killedWhilePutting).toBeGreaterThanOrEqual(4);
    expect(report.acknowledged).toBeGreaterThan(20);
  } finally {
    await rm(directory, { recursive: true });
  }
}, 60_000);

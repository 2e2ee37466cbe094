import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** What a program with a logger leaves on standard error. */
function linesOf(program: string): Record<string, unknown>[] {
  const file = new URL("./log.ts", import.meta.url);
  const code = `import { jsonLogger } from ${JSON.stringify(file.href)}; const log = jsonLogger(); ${program}`;
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], { encoding: "utf8" });
  const lines = stderr.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("every line is JSON with its time, its fields and what its logger adds", () => {
  const [first, second, ...rest] = linesOf(
    'log.info("peer written", { peer: "a" }); log.with({ connection: "x" }).warn("odd"); log.debug("never");',
  );
  expect(first).toEqual({ level: "info", time: expect.stringMatching(/^\d{4}-.*Z$/), msg: "peer written", peer: "a" });
  expect(second).toMatchObject({ level: "warn", msg: "odd", connection: "x" });
  expect(rest).toEqual([]);
});

test("the time of a line is that of its writing, in this second and in the next", () => {
  const startedMs = Date.now();
  const lines = linesOf('log.info("now"); setTimeout(() => log.info("later"), 1050);');
  const [now = 0, later = 0] = lines.map(({ time }) => Date.parse(String(time)));
  expect(now).toBeGreaterThanOrEqual(startedMs);
  expect(later - now).toBeGreaterThanOrEqual(1000);
  expect(later).toBeLessThanOrEqual(Date.now());
});

test("no line is lost, however many there are in one turn, and none is late", () => {
  const lines = linesOf(
    'for (let n = 0; n < 2000; n++) log.info("many", { n }); setImmediate(() => process.stderr.write(`{"n":"end"}\\n`));',
  );
  expect(lines.map(({ n }) => n)).toEqual([...Array.from({ length: 2000 }, (_, n) => n), "end"]);
});

test("the last line before an exit is there, whatever ends the process", () => {
  const ends = [
    "process.exit(3);",
    'throw new Error("a bug");',
    "process.exitCode = 1;",
    "Promise.reject(new Error());",
  ];
  for (const end of ends) expect(linesOf(`log.info("last"); ${end}`)).toMatchObject([{ msg: "last" }]);
});

// `npm run ci`: every ring, each step with a hard time limit. A hang names its step; the last line counts.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { passedStoriesVariable } from "../test/stories/passed-stories.ts";

interface Step {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly minutes: number;
}

const steps: readonly Step[] = [
  { name: "test", command: ["npm", "test"], minutes: 12 },
  { name: "start", command: ["npm", "start", "--", "--once"], minutes: 3 },
  { name: "build", command: ["npm", "run", "build"], minutes: 3 },
  { name: "control plane", command: ["npm", "run", "control-plane"], minutes: 30 },
  { name: "real", command: ["npm", "run", "test:real"], minutes: 30 },
  { name: "stories", command: ["npm", "run", "stories", "--", "--on=real"], minutes: 15 },
  { name: "same stories", command: ["node", "scripts/compare-stories.ts"], minutes: 1 },
  { name: "campaign", command: ["npm", "run", "campaign"], minutes: 12 },
];

/** Where steps leave what later ones compare. */
const notes = mkdtempSync(join(tmpdir(), "kilo-clustermesh-ci-"));

interface Result {
  readonly name: string;
  readonly verdict: "passed" | "failed" | "timed out";
  readonly seconds: number;
}

async function run({ name, command: [command, ...words], minutes }: Step): Promise<Result> {
  console.log(`\n=== ${name}: ${command} ${words.join(" ")}`);
  const startedMs = performance.now();
  // A group of its own, so that a step that hangs can be ended with all that it started.
  const env = { ...process.env, [passedStoriesVariable]: join(notes, "stories") };
  const child = spawn(command, words, { stdio: ["ignore", "inherit", "inherit"], detached: true, env });
  const { code, hung } = await ended(child, minutes * 60_000);
  const verdict = hung ? "timed out" : code === 0 ? "passed" : "failed";
  return { name, verdict, seconds: Math.round((performance.now() - startedMs) / 1000) };
}

function ended(child: ChildProcess, withinMs: number): Promise<{ code: number | null; hung: boolean }> {
  return new Promise((resolve) => {
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      if (child.pid) process.kill(-child.pid, "SIGKILL");
    }, withinMs);
    child.on("error", () => resolve({ code: 1, hung: false }));
    child.on("exit", (code) => {
      clearTimeout(timer);
      resolve({ code, hung });
    });
  });
}

const results: Result[] = [];
for (const step of steps) results.push(await run(step));
rmSync(notes, { recursive: true, force: true });

console.log("\nstep             seconds   verdict");
for (const { name, seconds, verdict } of results)
  console.log(`${name.padEnd(16)} ${String(seconds).padStart(7)}   ${verdict}`);
const failed = results.filter(({ verdict }) => verdict !== "passed").length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

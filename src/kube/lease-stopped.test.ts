import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";

const script = fileURLToPath(new URL("../../test/support/lease-process.ts", import.meta.url));

test("a real process that is stopped beyond its lease and continued does not believe that it leads", async () => {
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  await eventually(() => expect(output).toBe("leading\n"));
  child.kill("SIGSTOP");
  // Real time: a stopped process is the point.
  await delay(1_500);
  child.kill("SIGCONT");
  await eventually(() => expect(output.split("\n")).toEqual(expect.arrayContaining(["valid for 0", "lost"])));
  expect(output.match(/valid for (?!0\n)/)).toBeNull();
  await eventually(() => expect(output.trim().split("\n").at(-1)).toBe("leading"));
});

// `npm test`: everything that needs only Node. Ends with one line per ring that was not run, and why.
import { spawnSync } from "node:child_process";

const step = (command: string, words: readonly string[]): number =>
  spawnSync(command, words, { stdio: "inherit" }).status ?? 1;

const steps: readonly (readonly [string, readonly string[]])[] = [
  ["biome", ["check", "--error-on-warnings", "."]],
  ["tsc", []],
  ["vitest", ["run", ...process.argv.slice(2)]],
];

const failed = steps.filter(([command, words]) => step(command, words) !== 0).map(([command]) => command);
console.log("skipped: ring 2 (real control plane): needs Go and a build of some minutes; run `npm run test:real`");
console.log("skipped: ring 3 (real packets): needs network namespaces; not part of this command");
if (failed.length > 0) console.log(`failed: ${failed.join(", ")}`);
process.exit(failed.length === 0 ? 0 : 1);

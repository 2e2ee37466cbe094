// The first process of a network of its own: gives it its addresses and runs the tests of a file there.
// `node inside.ts FILE`. Ends when stdin does, and then everything that was started here ends too.
import { execFileSync, spawn } from "node:child_process";

const file = process.argv[2] ?? "";

function ip(words: string): void {
  execFileSync("ip", words.split(" "), { stdio: ["ignore", "ignore", "inherit"] });
}

ip("link set lo up");
// Nodes learn each other's addresses: with two ways between two pods, a cut of one would be none.
ip("address del ::1/128 dev lo");
for (let n = 1; n < 100; n++) ip(`address add 10.44.0.${n}/32 dev lo`);
process.stdin.on("end", () => process.exit(1)).resume();
const vitest = ["run", "--config", "vitest.real.config.ts", "--reporter=verbose", file];
spawn("vitest", vitest, { stdio: ["ignore", "inherit", "inherit"] })
  .on("error", (error) => {
    console.error(error.message);
    process.exit(1);
  })
  .on("exit", (code) => process.exit(code ?? 1));

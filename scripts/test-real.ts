// `npm run test:real`: everything that needs real API servers, oldest and newest, and the one line that says on how many
// contract cases the embedded server agrees with them. Words after `--` go to vitest.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { locate } from "../e2e/control-plane/binaries.ts";
import { ensureBinary } from "../e2e/control-plane/build-binary.ts";
import { recipes } from "../e2e/control-plane/recipes.ts";

const servers = ["sandbox", "real-1.28", "real-1.36"] as const;

interface Results {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly ancestorTitles: readonly string[]; readonly status: string }[];
  }[];
}

interface Tally {
  readonly server: string;
  readonly cases: number;
  readonly passed: number;
}

async function main(): Promise<number> {
  const reason = whyNot();
  if (reason) {
    console.log(`skipped: ring 2 (real control plane): ${reason}`);
    return process.env.CI === "true" ? 1 : 0;
  }
  for (const recipe of recipes) await ensureBinary(recipe, (line) => console.error(`control-plane: ${line}`));
  const folder = mkdtempSync(join(tmpdir(), "kilo-clustermesh-test-real-"));
  try {
    const file = join(folder, "results.json");
    const code = runVitest(file);
    const tallies = servers.map((server) => tallyOf(server, readResults(file)));
    const cases = Math.max(...tallies.map((tally) => tally.cases));
    const counts = tallies.map(({ server, passed }) => `${server} ${passed}`);
    console.log(`contract: ${cases} cases, ${counts.join(", ")}`);
    return tallies.every(({ passed }) => passed === cases) ? code : code || 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function whyNot(): string | undefined {
  for (const recipe of recipes) {
    const location = locate(recipe);
    if (location.state === "unavailable") return `${recipe.name}: ${location.reason}`;
  }
  return undefined;
}

function runVitest(resultsFile: string): number {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${resultsFile}`];
  const words = ["run", "--config", "vitest.real.config.ts", ...reporters, ...process.argv.slice(2)];
  const { status, error } = spawnSync("vitest", words, { stdio: "inherit" });
  if (error) throw error;
  return status ?? 1;
}

function readResults(file: string): Results {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { testResults: [] };
  }
}

/** Cases that a filter left out count as no cases. */
function tallyOf(server: string, { testResults }: Results): Tally {
  const own = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ ancestorTitles: [suite, part] }) => suite === server && part === "contract")
    .filter(({ status }) => status !== "skipped");
  return { server, cases: own.length, passed: own.filter(({ status }) => status === "passed").length };
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  },
);

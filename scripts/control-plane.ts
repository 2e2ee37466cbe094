// Builds the programs of the real control plane that the cache does not have yet.
//   --print              prints KUBE_APISERVER=… and so on, one per line and nothing else, on stdout
//   --only etcd,kubectl  these programs only
import { parseArgs } from "node:util";
import { allBinaries } from "../e2e/control-plane/binaries.ts";
import { ensureBinary } from "../e2e/control-plane/build-binary.ts";
import { recipeOf, recipes } from "../e2e/control-plane/recipes.ts";

const { values } = parseArgs({ options: { print: { type: "boolean" }, only: { type: "string" } } });
const say = (line: string): void => console.error(`control-plane: ${line}`);

async function main(): Promise<void> {
  const wanted = new Set((values.only?.split(",") ?? allBinaries).map((name) => recipeOf(name.trim()).name));
  const paths = new Map<string, string>();
  for (const recipe of recipes) {
    if (wanted.has(recipe.name)) paths.set(recipe.name, await ensureBinary(recipe, say));
  }
  const lines = allBinaries.flatMap((name) =>
    paths.has(name) ? [`${recipeOf(name).variable}=${paths.get(name)}`] : [],
  );
  if (values.print) console.log(lines.join("\n"));
  else say(`${paths.size} programs ready`);
}

main().catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});

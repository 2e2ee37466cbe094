// `npm run bench -- NAME`
import { Command, InvalidArgumentError, Option } from "commander";
import { Children } from "./children.ts";
import { benchInformer, type InformerOptions } from "./informer.ts";
import { benchManyClusters, type ManyClustersOptions } from "./many-clusters.ts";
import { type Report, reportJson, reportText } from "./report.ts";

const hardStopMs = 5 * 60_000;

interface Output {
  readonly output: "text" | "json";
}

function program(): Command {
  const root = new Command("bench")
    .usage("NAME [options]")
    .description("Measures our Kubernetes client beside @kubernetes/client-node, each in fresh processes.")
    .showHelpAfterError()
    .helpCommand(false);
  bench<InformerOptions>("informer", benchInformer)
    .description("one big cluster: list its Nodes, then follow a storm of watch events")
    .option("--nodes <n>", "how many", atLeastOne, 10_000)
    .option("--events <n>", "how many", atLeastOne, 100_000);
  bench<ManyClustersOptions>("many-clusters", benchManyClusters)
    .description("many clusters at once: list and watch the Nodes and Peers of each")
    .option("--clusters <n>", "how many", atLeastOne, 100)
    .option("--nodes <n>", "Nodes in each, and as many Peers", atLeastOne, 100);
  return root;

  function bench<Options>(name: string, run: (options: Options, children: Children) => Promise<Report>): Command {
    return root
      .command(name)
      .option("--rounds <n>", "fresh processes of each kind; the median counts", atLeastOne, 3)
      .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json"]).default("text"))
      .action((options: Options & Output) => report(options.output, (children) => run(options, children)));
  }
}

function atLeastOne(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("must be a whole number above 0.");
  return number;
}

/** Whatever happens, no process of the benchmark is left behind. */
async function report(output: Output["output"], run: (children: Children) => Promise<Report>): Promise<void> {
  const children = new Children();
  const stop = (why: string): void => {
    process.stderr.write(`error: ${why}\n`);
    children.stopAll();
    process.exit(1);
  };
  const timer = setTimeout(() => stop(`stopped after ${hardStopMs / 60_000} minutes`), hardStopMs);
  process.once("SIGINT", () => stop("interrupted"));
  process.once("SIGTERM", () => stop("interrupted"));
  try {
    const result = await run(children);
    process.stdout.write(`${output === "json" ? reportJson(result) : reportText(result)}\n`);
  } catch (error) {
    stop(error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
    children.stopAll();
  }
}

await program().parseAsync();

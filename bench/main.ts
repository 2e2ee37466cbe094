// `npm run bench -- NAME`
import { Command, InvalidArgumentError, Option } from "commander";
import { Children } from "./children.ts";
import { benchInformer, type InformerOptions } from "./informer.ts";
import { benchManyClusters, type ManyClustersOptions } from "./many-clusters.ts";
import { benchMeshNode, type MeshNodeOptions, meshPlaces } from "./mesh-node.ts";
import { meshJson, meshText } from "./mesh-node-report.ts";
import { benchOperator, type OperatorOptions } from "./operator.ts";
import type { Place } from "./operator-figures.ts";
import { operatorJson, operatorText } from "./operator-report.ts";
import { type Report, reportJson, reportText } from "./report.ts";

const hardStopMs = 5 * 60_000;
/** A node that leaves is given half a minute, and signs of life come as rarely. */
const operatorStopMs = 30 * 60_000;
/** Half of the rounds is the grace of those that leave. */
const meshStopMs = 10 * 60_000;
const places: readonly Place[] = ["real", "embedded", "growth"];

interface Output {
  readonly output: "text" | "json";
}

function program(): Command {
  const root = new Command("bench")
    .usage("NAME [options]")
    .description("Measures our Kubernetes client, the operator and the mesh node.")
    .showHelpAfterError()
    .helpCommand(false);
  bench<InformerOptions>("informer", compared(benchInformer))
    .description("one big cluster: list its Nodes, then follow a storm of watch events")
    .option("--nodes <n>", "how many", atLeastOne, 10_000)
    .option("--events <n>", "how many", atLeastOne, 100_000);
  bench<ManyClustersOptions>("many-clusters", compared(benchManyClusters))
    .description("many clusters at once: list and watch the Nodes and Peers of each")
    .option("--clusters <n>", "how many", atLeastOne, 100)
    .option("--nodes <n>", "Nodes in each, and as many Peers", atLeastOne, 100);
  bench<OperatorOptions>("operator", operated, { stopMs: operatorStopMs, rounds: 9 })
    .description("the shipped operator on whole meshes: start, changes, heartbeats, joins, leaves, memory")
    .addOption(new Option("--on <places...>", "where").choices(places).default(places))
    .option("--nodes <n>", "in each cluster", atLeastOne, 100)
    .option("--samples <n>", "node changes in each phase", atLeastOne, 200);
  bench<MeshNodeOptions>("mesh-node", meshed, { stopMs: meshStopMs, rounds: 10 })
    .description("nodes that find each other by EndpointSlices: links, documents, memory")
    .addOption(new Option("--on <places...>", "where").choices(meshPlaces).default(meshPlaces))
    .option("--documents <n>", "put on one node", atLeastOne, 1_000)
    .option("--nodes <n>", "in one process tree", atLeastOne, 50);
  return root;

  function bench<Options>(name: string, run: Run<Options>, { stopMs = hardStopMs, rounds = 3 } = {}): Command {
    return root
      .command(name)
      .option("--rounds <n>", "how often each thing is measured", atLeastOne, rounds)
      .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json"]).default("text"))
      .action((options: Options & Output) => report(options.output, stopMs, (children) => run(options, children)));
  }
}

type Run<Options> = (options: Options, children: Children) => Promise<Printed>;

/** A finished benchmark, in both forms. */
interface Printed {
  readonly text: () => string;
  readonly json: () => string;
}

function compared<Options>(run: (options: Options, children: Children) => Promise<Report>): Run<Options> {
  return async (options, children) => {
    const result = await run(options, children);
    return { text: () => reportText(result), json: () => reportJson(result) };
  };
}

async function operated(options: OperatorOptions, children: Children): Promise<Printed> {
  const sections = await benchOperator(options, children);
  return { text: () => operatorText(sections), json: () => operatorJson(sections) };
}

async function meshed(options: MeshNodeOptions, children: Children): Promise<Printed> {
  const sections = await benchMeshNode(options, children);
  return { text: () => meshText(sections), json: () => meshJson(sections) };
}

function atLeastOne(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("must be a whole number above 0.");
  return number;
}

/** Whatever happens, no process of the benchmark is left behind. */
async function report(
  output: Output["output"],
  stopMs: number,
  run: (children: Children) => Promise<Printed>,
): Promise<void> {
  const children = new Children();
  const stop = (why: string): void => {
    process.stderr.write(`error: ${why}\n`);
    children.stopAll();
    process.exit(1);
  };
  const timer = setTimeout(() => stop(`stopped after ${stopMs / 60_000} minutes`), stopMs);
  process.once("SIGINT", () => stop("interrupted"));
  process.once("SIGTERM", () => stop("interrupted"));
  try {
    const result = await run(children);
    process.stdout.write(`${result[output]()}\n`);
  } catch (error) {
    stop(error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
    children.stopAll();
  }
}

await program().parseAsync();

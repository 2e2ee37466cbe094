import { once } from "node:events";
import { systemClock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";
import type { NodeConfig } from "./config/config.ts";
import type { Environment } from "./config/flag-words.ts";
import { systemLookup } from "./discovery/static-peers.ts";
import { startNode } from "./node.ts";
import { listenIroh } from "./transport/iroh.ts";

/** Runs a node in this process until the signal. */
export async function runNode(
  config: NodeConfig,
  { env, log }: { readonly env: Environment; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const node = await startNode(config, { env, log, clock: systemClock, lookup: systemLookup, listen: listenIroh });
  if (!signal.aborted) await once(signal, "abort");
  log.info("mesh node stopping");
  await node.stop();
  log.info("mesh node stopped");
}

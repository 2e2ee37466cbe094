import { createHash } from "node:crypto";
import type { KubeClient } from "../kube/client.ts";
import { namespaces } from "../kube/resource.ts";
import { startInOrder } from "../runtime/lifecycle.ts";
import { bootstrapCrd } from "./bootstrap-crd.ts";
import type { OperatorConfig } from "./config.ts";
import { gated, type WriteGate } from "./gate.ts";
import { Operator, type OperatorPorts } from "./operator.ts";

/** The operator at work, until the signal. All writers have stopped when it returns. */
export async function lead(
  config: OperatorConfig,
  { gate, ...outside }: OperatorPorts & { readonly gate: WriteGate },
  signal: AbortSignal,
): Promise<void> {
  const mayWrite = (deadlineMs: number): boolean => !signal.aborted && gate.mayWrite(deadlineMs);
  const ports = behind({ mayWrite }, outside);
  const { client, clock, log } = ports;
  await bootstrapCrd({ ...ports, signal });
  const instance = config.instance || (await instanceOf(client, signal));
  const operator = new Operator({ ...ports, instance, allow: config.allow });
  const running = await startInOrder(operator.parts(), { clock, log });
  log.info("operator started", { instance });
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  await running.stop();
}

function behind(gate: WriteGate, { client, connect, ...rest }: OperatorPorts): OperatorPorts {
  return { ...rest, client: gated(client, gate), connect: (id, config) => gated(connect(id, config), gate) };
}

/** The same for every operator of this cluster and for none of another. */
async function instanceOf(client: KubeClient, signal: AbortSignal): Promise<string> {
  const { metadata } = await client.get(namespaces, { name: "kube-system" }, { signal });
  return createHash("sha256")
    .update(metadata.uid ?? "")
    .digest("hex")
    .slice(0, 16);
}

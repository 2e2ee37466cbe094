import { createHash } from "node:crypto";
import { type ConnectionId, localConnection } from "../core/ids.ts";
import type { KubeClient } from "../kube/client.ts";
import { namespaces } from "../kube/resource.ts";
import { startInOrder } from "../runtime/lifecycle.ts";
import { awaitCrd, bootstrapCrd } from "./bootstrap-crd.ts";
import type { OperatorConfig } from "./config.ts";
import { countingWrites } from "./count-writes.ts";
import { gated, type WriteGate } from "./gate.ts";
import { Operator, type OperatorPorts } from "./operator.ts";
import type { Telemetry } from "./telemetry.ts";

export interface LeadPorts extends Omit<OperatorPorts, "metrics"> {
  readonly gate: WriteGate;
  readonly telemetry: Telemetry;
}

/** The operator at work, until the signal. All writers have stopped when it returns. */
export async function lead(
  config: OperatorConfig,
  { gate, telemetry, ...outside }: LeadPorts,
  signal: AbortSignal,
): Promise<void> {
  const mayWrite = (deadlineMs: number): boolean => !signal.aborted && gate.mayWrite(deadlineMs);
  const ports = behind({ mayWrite }, { ...outside, metrics: telemetry.metrics });
  const { client, clock, log } = ports;
  await (config.installCrd ? bootstrapCrd : awaitCrd)({ ...ports, signal });
  const instance = config.instance || (await instanceOf(client, signal));
  const operator = new Operator({ ...config, ...ports, instance, policy: config });
  const running = await startInOrder(operator.parts(), { clock, log });
  const hide = telemetry.show(operator.state());
  log.info("operator started", { instance });
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  hide();
  await running.stop();
}

/** Every write passes the gate and is counted, whoever makes it. */
function behind(gate: WriteGate, { client, connect, ...rest }: OperatorPorts): OperatorPorts {
  const watched = (id: ConnectionId, inner: KubeClient): KubeClient =>
    countingWrites(gated(inner, gate), (write) => rest.metrics.wrote(id, write));
  return {
    ...rest,
    client: watched(localConnection, client),
    connect: (id, config) => watched(id, connect(id, config)),
  };
}

/** The same for every operator of this cluster and for none of another. */
async function instanceOf(client: KubeClient, signal: AbortSignal): Promise<string> {
  const { metadata } = await client.get(namespaces, { name: "kube-system" }, { signal });
  return createHash("sha256")
    .update(metadata.uid ?? "")
    .digest("hex")
    .slice(0, 16);
}

import { leaseName } from "../api/names.ts";
import { LeaderElection } from "../kube/lease.ts";
import type { OperatorConfig } from "./config.ts";
import { openGate } from "./gate.ts";
import { lead } from "./lead.ts";
import type { OperatorPorts } from "./operator.ts";

const afterFailureMs = 5000;

/** Runs the operator until the signal: at work when nobody else is, in waiting otherwise. */
export async function runOperator(config: OperatorConfig, ports: OperatorPorts, signal: AbortSignal): Promise<void> {
  if (!config.leaderElection) return lead(config, { ...ports, gate: openGate }, signal);
  const election = new LeaderElection({ ...ports, ...config.leaderElection, name: leaseName });
  ports.log.info("campaigning", config.leaderElection);
  const campaign = new AbortController();
  const campaigning = election.run(campaign.signal);
  try {
    while (!signal.aborted) await leadOnce(config, ports, { election, signal });
  } finally {
    // The lease is given back only now: no writer of ours is left.
    campaign.abort();
    await campaigning;
  }
}

interface Term {
  readonly election: LeaderElection;
  readonly signal: AbortSignal;
}

async function leadOnce(config: OperatorConfig, ports: OperatorPorts, { election, signal }: Term): Promise<void> {
  await leading(election, signal);
  const lost = new AbortController();
  const forget = election.onLost(() => lost.abort());
  const gate = { mayWrite: (deadlineMs: number) => election.validForMs() > deadlineMs };
  try {
    await lead(config, { ...ports, gate }, AbortSignal.any([signal, lost.signal]));
  } catch (error) {
    if (signal.aborted) return;
    ports.log.error("operator failed to start", { error: error instanceof Error ? error.message : String(error) });
    await ports.clock.sleep(afterFailureMs, signal).catch(() => undefined);
  } finally {
    forget();
  }
}

function leading(election: LeaderElection, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (election.isLeader || signal.aborted) return resolve();
    const forget = election.onLeading(() => end());
    const end = (): void => {
      forget();
      signal.removeEventListener("abort", end);
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
  });
}

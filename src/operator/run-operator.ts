import { leaseName } from "../api/names.ts";
import { LeaderElection } from "../kube/lease.ts";
import type { OperatorConfig } from "./config.ts";
import { openGate } from "./gate.ts";
import { startHttp } from "./http.ts";
import { type LeadPorts, lead } from "./lead.ts";
import { Telemetry } from "./telemetry.ts";

/** What a process of the operator needs from outside. */
export type ProcessPorts = Omit<LeadPorts, "gate" | "telemetry">;

const afterFailureMs = 5000;

/** Runs the operator until the signal: at work when nobody else is, in waiting otherwise. */
export async function runOperator(config: OperatorConfig, ports: ProcessPorts, signal: AbortSignal): Promise<void> {
  const telemetry = new Telemetry({ clock: ports.clock, withMetrics: config.metrics !== "off" });
  const http = await startHttp(config, { ...ports, telemetry });
  try {
    await campaign(config, { ...ports, telemetry }, signal);
  } finally {
    await http.stop();
  }
}

type CampaignPorts = Omit<LeadPorts, "gate">;

async function campaign(config: OperatorConfig, ports: CampaignPorts, signal: AbortSignal): Promise<void> {
  if (!config.leaderElection) return leadAlone(config, ports, signal);
  const election = new LeaderElection({ ...ports, ...config.leaderElection, name: leaseName });
  ports.telemetry.follow(election);
  ports.log.info("campaigning", config.leaderElection);
  const ending = new AbortController();
  const campaigning = election.run(ending.signal);
  try {
    while (!signal.aborted) await leadOnce(config, ports, { election, signal });
  } finally {
    // The lease is given back only now: no writer of ours is left.
    ending.abort();
    await campaigning;
  }
}

/** Without a Lease to wait for, what fails at the start is the caller's to know; being stopped is no failure. */
async function leadAlone(config: OperatorConfig, ports: CampaignPorts, signal: AbortSignal): Promise<void> {
  try {
    await lead(config, { ...ports, gate: openGate }, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

interface Term {
  readonly election: LeaderElection;
  readonly signal: AbortSignal;
}

async function leadOnce(config: OperatorConfig, ports: CampaignPorts, { election, signal }: Term): Promise<void> {
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

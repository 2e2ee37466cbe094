import type { Knowledge } from "../kube/informer.ts";

/** What the process is doing at this moment. Times are monotonic. */
export type Role =
  | {
      readonly kind: "standby";
      /** When the API last told us who holds the lease. */
      readonly leaseAnsweredMs: number | undefined;
    }
  /** Leads, but does not watch yet. */
  | { readonly kind: "starting" }
  | {
      readonly kind: "leading";
      readonly meshes: Knowledge;
      /** The list of meshes was complete at least once. */
      readonly wasListed: boolean;
    };

export interface Readiness {
  readonly ready: boolean;
  /** One line for a person. */
  readonly text: string;
}

/** So long a lost local API may come back before it counts. */
export const patienceMs = 30_000;

/** Ready is who does its work: a leader that knows the meshes, a standby that knows it is one. */
export function readinessOf(role: Role, nowMs: number): Readiness {
  if (role.kind === "standby") return standbyReadiness(role.leaseAnsweredMs, nowMs);
  if (role.kind === "starting") return { ready: false, text: "leading, not started yet" };
  const { meshes, wasListed } = role;
  if (meshes.state === "known") return { ready: true, text: "leading, the meshes are known" };
  if (!wasListed) return { ready: false, text: `leading, the meshes are not known yet (${meshes.reason})` };
  const lostMs = nowMs - meshes.since;
  const text = `leading, the local API is unknown for ${secondsOf(lostMs)} s (${meshes.reason})`;
  return { ready: lostMs <= patienceMs, text };
}

function standbyReadiness(leaseAnsweredMs: number | undefined, nowMs: number): Readiness {
  if (leaseAnsweredMs === undefined) return { ready: false, text: "standby, the lease has not been read yet" };
  const silentMs = nowMs - leaseAnsweredMs;
  if (silentMs > patienceMs) return { ready: false, text: `standby, the lease was read ${secondsOf(silentMs)} s ago` };
  return { ready: true, text: "standby, another operator leads" };
}

const secondsOf = (ms: number): number => Math.round(ms / 1000);

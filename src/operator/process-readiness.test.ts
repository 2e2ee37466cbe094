import { describe, expect, it } from "vitest";
import type { Knowledge } from "../kube/informer.ts";
import { patienceMs, readinessOf } from "./process-readiness.ts";

const known: Knowledge = { state: "known", since: 0 };
const lost: Knowledge = { state: "unknown", since: 1000, reason: "unreachable" };

describe("a leader", () => {
  it("is ready when it knows the meshes", () => {
    expect(readinessOf({ kind: "leading", meshes: known, wasListed: true }, 0)).toEqual({
      ready: true,
      text: "leading, the meshes are known",
    });
  });

  it("is not ready before it has listed them, and says why", () => {
    expect(readinessOf({ kind: "starting" }, 0).ready).toBe(false);
    const meshes: Knowledge = { state: "unknown", since: 0, reason: "forbidden" };
    expect(readinessOf({ kind: "leading", meshes, wasListed: false }, 0)).toEqual({
      ready: false,
      text: "leading, the meshes are not known yet (forbidden)",
    });
  });

  it("stays ready for half a minute without its local API, not longer", () => {
    const role = { kind: "leading", meshes: lost, wasListed: true } as const;
    expect(readinessOf(role, 1000 + patienceMs).ready).toBe(true);
    expect(readinessOf(role, 1000 + patienceMs + 5000)).toEqual({
      ready: false,
      text: "leading, the local API is unknown for 35 s (unreachable)",
    });
  });
});

describe("a standby", () => {
  it("is ready: it is what it has to be", () => {
    expect(readinessOf({ kind: "standby", leaseAnsweredMs: 0 }, patienceMs).ready).toBe(true);
  });

  it("that does not know who leads is not", () => {
    expect(readinessOf({ kind: "standby", leaseAnsweredMs: undefined }, 0)).toEqual({
      ready: false,
      text: "standby, the lease has not been read yet",
    });
    expect(readinessOf({ kind: "standby", leaseAnsweredMs: 0 }, 31_000).text).toBe(
      "standby, the lease was read 31 s ago",
    );
    expect(readinessOf({ kind: "standby", leaseAnsweredMs: 0 }, 31_000).ready).toBe(false);
  });
});

import { describe, expect, it } from "vitest";
import type { Peer } from "../discovery/roster.ts";
import { endpointIdOf } from "../identity.ts";
import { afterFailure, afterLink, beginPursuit, dueNow, type Moment, type Pursuit, updatePursuit } from "./pursuit.ts";

const ids = [1, 2].map((fill) => endpointIdOf(new Uint8Array(32).fill(fill))).sort();
const [lower, higher] = ids as [Peer["id"], Peer["id"]];

const aPeer = (overrides: Partial<Peer> = {}): Peer => ({
  ...{ id: lower, addresses: ["10.0.0.1:1"], origin: "kubernetes", dialable: true },
  ...overrides,
});
const aPursuit = (overrides: Partial<Pursuit> = {}): Pursuit => ({
  ...{ peer: aPeer(), failures: 0, dueAtMs: 0 },
  ...overrides,
});
const at = (nowMs: number, random = 0.999): Moment => ({ nowMs, random: () => random });

describe("a new peer", () => {
  it("is dialed at once by the lower id and a little later by the higher", () => {
    expect(beginPursuit(aPeer({ id: higher }), lower, at(100)).dueAtMs).toBe(100);
    const { dueAtMs } = beginPursuit(aPeer(), higher, at(100));
    expect(dueAtMs).toBeGreaterThanOrEqual(300);
    expect(dueAtMs).toBeLessThanOrEqual(500);
  });
});

describe("a peer that fails", () => {
  it("waits longer each time, between half and all of 0.5 to 30 seconds", () => {
    const waits = [0, 1, 2, 3, 5, 6, 7, 50].map((failures) =>
      [0, 0.999_999].map((random) => afterFailure(aPursuit({ failures }), "DialTimeout", at(0, random)).dueAtMs),
    );
    expect(waits).toEqual([
      [250, 500],
      [500, 1_000],
      [1_000, 2_000],
      [2_000, 4_000],
      [8_000, 16_000],
      [15_000, 30_000],
      [15_000, 30_000],
      [15_000, 30_000],
    ]);
  });

  it("waits at least a minute when it is of another formation", () => {
    expect(afterFailure(aPursuit(), "FormationNotProven", at(0, 0)).dueAtMs).toBe(60_000);
  });

  it("is not held to have failed when another connection was chosen", () => {
    const after = afterFailure(aPursuit({ failures: 2 }), "Duplicate", at(0));
    expect([after.failures, after.dueAtMs < 1_001]).toEqual([2, true]);
  });

  it("begins anew when it moves or becomes ready, and not when only its name changes", () => {
    const failing = aPursuit({ failures: 9, dueAtMs: 30_000, reason: "DialTimeout" });
    const fresh = { failures: 0, dueAtMs: 5 };
    expect(updatePursuit(failing, aPeer({ addresses: ["10.0.0.2:1"] }), at(5))).toMatchObject(fresh);
    const unready = { ...failing, peer: aPeer({ dialable: false }) };
    expect(updatePursuit(unready, aPeer(), at(5))).toMatchObject(fresh);
    expect(updatePursuit(failing, aPeer({ name: "new" }), at(5))).toMatchObject({ failures: 9, dueAtMs: 30_000 });
  });
});

describe("a link that ended", () => {
  it("forgives what failed before only if it lasted", () => {
    const before = aPursuit({ failures: 7 });
    expect(afterLink(before, { reason: "Silent", lastedMs: 10_000 }, at(0)).failures).toBe(1);
    expect(afterLink(before, { reason: "RefusedFrame", lastedMs: 9_999 }, at(0)).failures).toBe(8);
  });
});

describe("who is dialed next", () => {
  it("is due and ready; those who failed least and waited longest go first; at most so many", () => {
    const named = (name: string, overrides: Partial<Pursuit>) => aPursuit({ peer: aPeer({ name }), ...overrides });
    const all = [
      named("failing", { failures: 3, dueAtMs: 1 }),
      named("later", { dueAtMs: 101 }),
      named("second", { dueAtMs: 20 }),
      named("first", { dueAtMs: 10 }),
      aPursuit({ peer: aPeer({ name: "unready", dialable: false }) }),
    ];
    const names = (atMost: number) => dueNow(all, 100, atMost).map(({ peer }) => peer.name);
    expect(names(9)).toEqual(["first", "second", "failing"]);
    expect(names(2)).toEqual(["first", "second"]);
    expect(names(0)).toEqual([]);
  });
});

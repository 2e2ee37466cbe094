import { describe, expect, it } from "vitest";
import { type Endpoint, parseEndpoint } from "./endpoint.ts";
import { keptMark, type Moving, moveText, nextMove, parseMove, takeTurns } from "./move.ts";

const at = (text: string): Endpoint => parseEndpoint(text) as Endpoint;
const [old, other, now] = [at("203.0.113.1:4500"), at("[2001:db8::1]:4500"), at("198.51.100.9:51820")];

const next = (overrides: Partial<Parameters<typeof nextMove>[0]> = {}) =>
  nextMove({ mark: "", ageMs: 0, to: now, isNew: false, reported: [old], follows: true, ...overrides });

describe("the move of a Peer to another endpoint", () => {
  it("begins with waiting, and remembers where the node was met", () => {
    expect(next({ isNew: true, reported: [old, now, old, other] })).toEqual({
      move: { step: "waiting", left: [old, other] },
      afterMs: 90_000,
    });
  });

  it("is none when nobody has met the node elsewhere", () => {
    expect(next({ isNew: true, reported: [] })).toBeUndefined();
    expect(next({ isNew: true, reported: [now] })).toBeUndefined();
  });

  it.each(["waiting", "dropped"])("goes on %s while the old place is reported, for 90 s", (step) => {
    const mark = `${step} 203.0.113.1:4500`;
    expect(next({ mark, ageMs: 30_000 })).toEqual({ move: { step, left: [old] }, afterMs: 60_000 });
  });

  it.each(["waiting", "dropped"])(
    "is over, however far it is (%s), when nobody reports a place that was left",
    (step) => {
      const mark = `${step} 203.0.113.1:4500`;
      expect(next({ mark, reported: [now] })).toBeUndefined();
      expect(next({ mark, reported: [other] })).toBeUndefined();
      expect(next({ mark, reported: [] })).toBeUndefined();
    },
  );

  it("needs the keepalive to go when the old place is still reported after 90 s", () => {
    const mark = "waiting 203.0.113.1:4500";
    expect(next({ mark, ageMs: 90_000 })).toEqual({ move: { step: "waiting", left: [old] }, isDue: true });
  });

  it("is given up when there is no keepalive that holds it back, or none any more: the node is there all the same", () => {
    expect(next({ mark: "waiting 203.0.113.1:4500", ageMs: 90_000, follows: false })).toBeUndefined();
    expect(next({ mark: "dropped 203.0.113.1:4500", ageMs: 90_000 })).toBeUndefined();
  });

  it("begins anew when the node says something else meanwhile", () => {
    const again = next({ mark: "dropped 203.0.113.1:4500", isNew: true, ageMs: 10_000, reported: [other] });
    expect(again?.move).toEqual({ step: "waiting", left: [other] });
  });

  it("keeps its mark short for a node behind many mappings", () => {
    const reported = Array.from({ length: 100 }, (_, index) => at(`203.0.113.1:${index + 1}`));
    expect(next({ isNew: true, reported })?.move.left).toHaveLength(16);
  });
});

describe("the turns of several moves", () => {
  const due: Moving = { move: { step: "waiting", left: [old] }, isDue: true };
  const dropped: Moving = { move: { step: "dropped", left: [old] }, afterMs: 5 };
  const steps = (movings: readonly (Moving | undefined)[]) => takeTurns(movings).map((moving) => moving?.move.step);

  it("are one at a time", () => {
    expect(steps([undefined, due, due])).toEqual([undefined, "dropped", "waiting"]);
    expect(steps([due, dropped])).toEqual(["waiting", "dropped"]);
  });

  it("are taken only by those that are due", () => {
    const waiting: Moving = { move: due.move, afterMs: 5 };
    expect(takeTurns([waiting, due])).toEqual([waiting, { move: { step: "dropped", left: [old] }, afterMs: 90_000 }]);
    expect(takeTurns([waiting, undefined])).toEqual([waiting, undefined]);
  });
});

describe("the mark of a move", () => {
  it("is read as it was written", () => {
    for (const step of ["waiting", "dropped"] as const) {
      const move = { step, left: [old, other] };
      expect(parseMove(moveText(move))).toEqual(move);
    }
  });

  it("that somebody has spoiled says nothing, or that nothing is left to wait for", () => {
    expect(parseMove("")).toBeUndefined();
    expect(parseMove("running 203.0.113.1:4500")).toBeUndefined();
    expect(next({ mark: "dropped nonsense" })).toBeUndefined();
  });

  it("of a Peer that is only kept says that it waits with its keepalive", () => {
    expect(keptMark("dropped 203.0.113.1:4500")).toBe("waiting 203.0.113.1:4500");
    expect(keptMark("waiting 203.0.113.1:4500")).toBeUndefined();
    expect(keptMark("")).toBeUndefined();
  });
});

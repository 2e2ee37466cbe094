import { describe, expect, it } from "vitest";
import { nodeName } from "../core/ids.ts";
import { absenceSpanMs, Departures, deletedGraceMs } from "./departures.ts";

const node = nodeName("n");

describe("a node that was deleted", () => {
  it("counts as departing for the grace, then as gone", () => {
    const departures = new Departures();
    departures.left(node, "deleted", 1000);
    expect(departures.current(1000 + deletedGraceMs - 5000)).toEqual([{ name: node, afterMs: 5000 }]);
    expect(departures.current(1000 + deletedGraceMs)).toEqual([{ name: node, afterMs: 0 }]);
  });

  it("is forgotten in the end", () => {
    const departures = new Departures();
    departures.left(node, "deleted", 0);
    expect(departures.current(3_600_000)).toEqual([]);
  });

  it("is no departure any more when it registers again", () => {
    const departures = new Departures();
    departures.left(node, "deleted", 0);
    departures.returned(node);
    expect(departures.current(1)).toEqual([]);
  });
});

describe("a node that a list did not hold", () => {
  it("is departing until a complete list a minute later agrees", () => {
    const departures = new Departures();
    departures.listed(0);
    departures.left(node, "absent", 0);
    expect(departures.current(2 * absenceSpanMs)).toEqual([{ name: node, afterMs: 1000 }]);
    departures.listed(absenceSpanMs - 1);
    expect(departures.current(2 * absenceSpanMs)).toEqual([{ name: node, afterMs: 1000 }]);
    expect(departures.listDueMs()).toBe(absenceSpanMs);
    departures.listed(absenceSpanMs);
    expect(departures.current(2 * absenceSpanMs)).toEqual([{ name: node, afterMs: 0 }]);
    expect(departures.listDueMs()).toBeUndefined();
  });
});

describe("a node that was never listed", () => {
  it("is proven absent by two lists a minute apart, not by one or by two in a row", () => {
    const departures = new Departures();
    expect(departures.absenceProven).toBe(false);
    departures.listed(0);
    departures.listed(1000);
    expect(departures.absenceProven).toBe(false);
    expect(departures.absenceDueMs()).toBe(absenceSpanMs);
    departures.listed(absenceSpanMs);
    expect(departures.absenceProven).toBe(true);
    expect(departures.absenceDueMs()).toBeUndefined();
  });
});

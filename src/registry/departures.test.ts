import { describe, expect, it } from "vitest";
import { nodeName } from "../core/ids.ts";
import { absenceSpanMs, Departures, deletedGraceMs, type Moment } from "./departures.ts";

const node = nodeName("n");
const at = (nowMs: number, streamsEnded = 0): Moment => ({ nowMs, streamsEnded });

describe("a node that was deleted", () => {
  it("counts as departing for the grace, then as gone", () => {
    const departures = new Departures();
    departures.left(node, "deleted", at(1000));
    expect(departures.current(at(1000 + deletedGraceMs - 5000))).toEqual([
      { name: node, afterMs: 5000, needsList: false },
    ]);
    expect(departures.current(at(1000 + deletedGraceMs))).toEqual([{ name: node, afterMs: 0, needsList: false }]);
    expect(departures.listDueMs(at(1000))).toBeUndefined();
  });

  it("is forgotten in the end", () => {
    const departures = new Departures();
    departures.left(node, "deleted", at(0));
    expect(departures.current(at(3_600_000))).toEqual([]);
  });

  it("is no departure any more when it registers again", () => {
    const departures = new Departures();
    departures.left(node, "deleted", at(0));
    departures.returned(node);
    expect(departures.current(at(1))).toEqual([]);
  });

  it("needs a list after the grace when the watch broke meanwhile: it may have come back unseen", () => {
    const departures = new Departures();
    departures.listed(0);
    departures.left(node, "deleted", at(1000));
    const later = at(1000 + 2 * deletedGraceMs, 1);
    expect(departures.current(later)).toEqual([{ name: node, afterMs: 1000, needsList: true }]);
    expect(departures.listDueMs(later)).toBe(1000 + deletedGraceMs);
    departures.listed(later.nowMs);
    expect(departures.current(later)).toEqual([{ name: node, afterMs: 0, needsList: true }]);
  });
});

describe("a node that a list did not hold", () => {
  it("is departing until a complete list a minute later agrees, however long that takes", () => {
    const departures = new Departures();
    departures.listed(0);
    departures.left(node, "absent", at(0));
    expect(departures.current(at(100 * absenceSpanMs))).toEqual([{ name: node, afterMs: 1000, needsList: true }]);
    departures.listed(absenceSpanMs - 1);
    expect(departures.current(at(2 * absenceSpanMs))).toEqual([{ name: node, afterMs: 1000, needsList: true }]);
    expect(departures.listDueMs(at(0))).toBe(absenceSpanMs);
    departures.listed(absenceSpanMs);
    expect(departures.current(at(2 * absenceSpanMs))).toEqual([{ name: node, afterMs: 0, needsList: true }]);
    expect(departures.listDueMs(at(0))).toBeUndefined();
  });
});

describe("a node that was never listed", () => {
  it("is proven absent by two lists a minute apart, not by one or by two in a row", () => {
    const departures = new Departures();
    expect(departures.absenceProven).toBe(false);
    departures.listed(0);
    departures.listed(1000);
    expect(departures.absenceProven).toBe(false);
    expect(departures.listDueMs(at(0))).toBe(absenceSpanMs);
    departures.listed(absenceSpanMs);
    expect(departures.absenceProven).toBe(true);
    expect(departures.listDueMs(at(0))).toBeUndefined();
  });
});

it("any number of nodes may leave at once", () => {
  const departures = new Departures();
  for (let number = 0; number < 200_000; number++) departures.left(nodeName(`n${number}`), "absent", at(number));
  expect(departures.listDueMs(at(0))).toBe(absenceSpanMs);
});

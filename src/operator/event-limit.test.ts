import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { meshId } from "../core/ids.ts";
import { EventLimit } from "./event-limit.ts";
import type { MeshEvent } from "./mesh-events.ts";

const mesh = meshId("kilo-system", "my-mesh");
const some = (count: number): MeshEvent[] =>
  Array.from({ length: count }, (_, index) => ({ type: "Warning", reason: `R${index}`, note: "" }));

describe("the Events of a mesh", () => {
  it("all pass while they are few", () => {
    expect(new EventLimit(new FakeClock()).pass(mesh, some(19))).toEqual(some(19));
  });

  it("are twenty at most, the last of which says how many more there were", () => {
    const limit = new EventLimit(new FakeClock());
    const passed = limit.pass(mesh, some(101));
    expect(passed).toHaveLength(20);
    expect(passed.at(-1)).toMatchObject({ reason: "EventsHeldBack", note: expect.stringContaining("82 more") });
    expect(limit.heldBack).toBe(82);
    expect(limit.pass(mesh, some(5))).toEqual([]);
  });

  it("that were held back meanwhile are counted when ten minutes have passed", () => {
    const clock = new FakeClock();
    const limit = new EventLimit(clock);
    limit.pass(mesh, some(30));
    clock.jump(300_000);
    expect(limit.pass(mesh, some(5))).toEqual([]);
    clock.jump(300_000);
    const passed = limit.pass(mesh, some(1));
    expect(passed.map(({ reason }) => reason)).toEqual(["R0", "EventsHeldBack"]);
    expect(passed[1]?.note).toContain("5 more");
  });

  it("are never more than twenty in any ten minutes, however they come", () => {
    const clock = new FakeClock();
    const limit = new EventLimit(clock);
    const times: number[] = [];
    for (let turn = 0; turn < 300; turn++) {
      for (const _ of limit.pass(mesh, some(turn % 4))) times.push(clock.now());
      clock.jump(10_000);
    }
    for (const from of times)
      expect(times.filter((time) => time >= from && time < from + 600_000).length).toBeLessThan(21);
  });

  it("do not count for another mesh", () => {
    const limit = new EventLimit(new FakeClock());
    limit.pass(mesh, some(50));
    expect(limit.pass(meshId("kilo-system", "other"), some(3))).toEqual(some(3));
  });
});

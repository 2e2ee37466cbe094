import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { logTail } from "../../test/support/log-tail.ts";
import { Closing } from "./closing.ts";

describe("closing", () => {
  it("goes backwards, past what fails and what never ends, and happens once", async () => {
    const clock = new FakeClock();
    const { log, lines } = logTail();
    const closing = new Closing({ clock, log, eachWithinMs: 100 });
    const closed: string[] = [];
    closing.add("first", () => void closed.push("first"));
    closing.add("hanging", () => new Promise(() => undefined));
    closing.add("failing", async () => {
      throw new Error("broken");
    });
    closing.add("last", async () => void closed.push("last"));
    const both = Promise.all([closing.close(), closing.close()]);
    await clock.advance(200);
    await both;
    expect(closed).toEqual(["last", "first"]);
    expect(lines()).toEqual([
      expect.stringContaining('"failing","error":"broken"'),
      expect.stringContaining('"hanging","error":"not done within 100 ms"'),
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { silentLogger } from "../runtime/log.ts";
import { NameResolver } from "./name-resolver.ts";

describe("the name of an endpoint", () => {
  it("is asked for again every minute, and only another answer is news", async () => {
    const clock = new FakeClock();
    const answers = [["192.0.2.1"], ["192.0.2.1"], ["192.0.2.2"]];
    let news = 0;
    const resolve = async () => answers.shift() ?? Promise.reject(new Error("no such name"));
    const resolver = new NameResolver({ clock, log: silentLogger, resolve, onChange: () => news++ });
    resolver.follow(["gw.example.org"]);
    resolver.follow(["gw.example.org"]);
    await clock.settle();
    expect([resolver.answers.get("gw.example.org"), news]).toEqual([["192.0.2.1"], 1]);
    await clock.advance(60_000);
    expect(news).toBe(1);
    await clock.advance(60_000);
    expect([resolver.answers.get("gw.example.org"), news]).toEqual([["192.0.2.2"], 2]);
    await clock.advance(60_000);
    expect(resolver.answers.get("gw.example.org")).toEqual(["192.0.2.2"]);
    resolver.stop();
  });
});

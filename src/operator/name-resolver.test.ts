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
    resolver.follow("target", ["gw.example.org"]);
    resolver.follow("target", ["gw.example.org"]);
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

  it("is forgotten when nobody needs it any more: whoever writes names cannot make us follow ever more of them", async () => {
    const clock = new FakeClock();
    const asked: string[] = [];
    const resolve = async (name: string) => [`192.0.2.${asked.push(name)}`];
    const resolver = new NameResolver({ clock, log: silentLogger, resolve, onChange: () => undefined });
    for (let index = 0; index < 50; index++) resolver.follow("one", [`gw${index}.example.org`]);
    resolver.follow("two", ["gw49.example.org"]);
    await clock.settle();
    resolver.follow("one", []);
    expect([...resolver.answers.keys()]).toEqual(["gw49.example.org"]);
    asked.length = 0;
    await clock.advance(60_000);
    expect(asked).toEqual(["gw49.example.org"]);
    resolver.stop();
  });

  it("that stops resolving is told once, and once more when it did so again", async () => {
    const clock = new FakeClock();
    const warnings: string[] = [];
    const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const answers = [["192.0.2.1"], undefined, undefined, ["192.0.2.1"], undefined];
    const resolve = async () => answers.shift() ?? Promise.reject(new Error("no such name"));
    const resolver = new NameResolver({ clock, log, resolve, onChange: () => undefined });
    resolver.follow("target", ["gw.example.org"]);
    await clock.advance(5 * 60_000);
    expect(warnings).toEqual(["name not resolved", "name not resolved"]);
    resolver.stop();
  });

  it("that does not resolve has an empty answer: it was asked for", async () => {
    const clock = new FakeClock();
    const resolve = () => Promise.reject(new Error("no such name"));
    const resolver = new NameResolver({ clock, log: silentLogger, resolve, onChange: () => undefined });
    resolver.follow("target", ["gw.example.org"]);
    await clock.settle();
    expect(resolver.answers.get("gw.example.org")).toEqual([]);
    resolver.stop();
  });
});

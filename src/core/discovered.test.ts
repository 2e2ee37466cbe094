import { describe, expect, it } from "vitest";
import { parseDiscovered, reportsIn } from "./discovered.ts";
import { nodeName } from "./ids.ts";

const said = (ip: unknown, port: unknown = 51820): string => JSON.stringify({ k: { IP: ip, Port: port, Zone: "" } });

describe("what Kilo has discovered", () => {
  it.each([
    ["203.0.113.7", { ip: "203.0.113.7" }],
    ["10.0.0.7", { ip: "10.0.0.7" }],
    ["2001:db8::7", { ip: "2001:db8::7" }],
    ["::ffff:203.0.113.7", { ip: "203.0.113.7" }],
  ])("%s is an endpoint", (ip, host) => {
    expect(parseDiscovered(said(ip)).get("k")).toEqual({ host, port: 51820 });
  });

  it.each([
    "",
    "127.0.0.1",
    "169.254.1.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "ff02::1",
    "x",
    7,
  ])("%j is none", (ip) => {
    expect(parseDiscovered(said(ip)).size).toBe(0);
  });

  it.each([0, -1, 65536, 1.5, "51820", null])("port %j is none", (port) => {
    expect(parseDiscovered(said("203.0.113.7", port)).size).toBe(0);
  });

  it.each(["", "null", "{}", "[1]", "{", '"text"', '{"k":null}'])("the text %j says nothing", (text) => {
    expect(parseDiscovered(text).size).toBe(0);
  });

  it("is told in the order of the nodes' names", () => {
    const observed = new Map([
      [nodeName("b"), parseDiscovered(said("203.0.113.2"))],
      [nodeName("c"), parseDiscovered(said("203.0.113.1"))],
      [nodeName("a"), parseDiscovered(said("203.0.113.1"))],
    ]);
    expect(
      reportsIn(observed)
        .get("k")
        ?.map(({ host }) => host),
    ).toEqual([{ ip: "203.0.113.1" }, { ip: "203.0.113.2" }]);
  });
});

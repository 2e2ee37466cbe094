import { describe, expect, it } from "vitest";
import { parseCidrs, parseInstance, parseKeepalive, parseLicences, parseNamespaces } from "./config.ts";

describe("a list in a flag", () => {
  it("is read word by word, spaces and empty words aside", () => {
    expect(parseCidrs("10.0.0.0/8, fd00::/8,").map(({ text }) => text)).toEqual(["10.0.0.0/8", "fd00::/8"]);
    expect([...parseNamespaces("a,kilo-system")]).toEqual(["a", "kilo-system"]);
    expect([...parseLicences("proxy,loopback")]).toEqual(["proxy", "loopback"]);
  });

  it("that would limit nothing because it is empty is refused", () => {
    expect(() => parseCidrs(" ,")).toThrow("it is empty");
    expect(() => parseNamespaces("")).toThrow("it is empty");
  });
});

describe("a wrong value", () => {
  it.each<[string, () => unknown, string]>([
    ["a network that is none", () => parseCidrs("10.0.0.0"), "10.0.0.0 is not a network"],
    ["one of several networks", () => parseCidrs("10.0.0.0/8,10.0.0.0/33"), "10.0.0.0/33 is not a network"],
    ["a network with bits behind its prefix", () => parseCidrs("10.1.2.3/8"), "did you mean 10.0.0.0/8?"],
    ["a namespace that cannot exist", () => parseNamespaces("Default"), "not the name of a namespace: Default"],
    ["a keepalive that is no number", () => parseKeepalive("25s"), "whole seconds"],
    ["a keepalive below zero", () => parseKeepalive("-1"), "whole seconds"],
    ["a keepalive beyond what Kilo takes", () => parseKeepalive("65536"), "whole seconds from 0 to 65535"],
    ["a mark that is no label value", () => parseInstance("my instance"), "as a label's value is written"],
    ["a licence that is none", () => parseLicences("exec"), "known are insecure-tls, proxy, loopback"],
  ])("such as %s is refused with what to give instead", (_, parse, expected) => {
    expect(parse).toThrow(expected);
  });
});

describe("a right value", () => {
  it("is taken as it is", () => {
    expect([parseKeepalive("0"), parseKeepalive("25"), parseInstance(""), parseInstance("east.1")]).toEqual([
      0,
      25,
      "",
      "east.1",
    ]);
    expect(parseCidrs("::ffff:10.0.0.0/104").map(({ text }) => text)).toEqual(["10.0.0.0/8"]);
  });
});

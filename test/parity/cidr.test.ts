import { describe, expect, it } from "vitest";
import {
  type Cidr,
  contains,
  containsIp,
  formatIp,
  hostRoute,
  overlaps,
  parseCidr,
  parseHostInCidr,
  parseIp,
} from "../../src/core/cidr.ts";

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  if (!parsed) throw new Error(`not a CIDR: ${text}`);
  return parsed;
};

describe("one network in another", () => {
  it.each([
    ["10.0.0.0/8", "10.1.0.0/16", true],
    ["10.0.0.0/8", "10.0.0.0/8", true],
    ["10.0.0.0/8", "192.168.0.0/16", false],
    ["10.1.0.0/16", "10.0.0.0/8", false],
    ["10.0.0.0/8", "10.0.0.1/32", true],
    ["10.0.0.0/8", "11.0.0.1/32", false],
    ["fd00::/8", "fd12:3456::/32", true],
    ["fd00::/8", "2001:db8::/32", false],
  ])("%s holds %s: %s", (outer, inner, expected) => {
    expect(contains(cidr(outer), cidr(inner))).toBe(expected);
  });

  it.each([
    ["10.4.0.0/16", "10.4.255.1", true],
    ["10.4.0.0/16", "10.5.0.1", false],
    ["fd00::/8", "fdff::1", true],
    ["10.4.0.0/16", "::a04:1", false],
  ])("%s holds the address %s: %s", (outer, address, expected) => {
    const parsed = parseIp(address);
    expect(parsed && containsIp(cidr(outer), parsed)).toBe(expected);
  });
});

describe("two networks", () => {
  it.each([
    ["10.0.0.0/8", "10.0.0.0/8", true],
    ["10.0.0.0/8", "10.1.0.0/16", true],
    ["10.2.0.0/15", "10.3.0.0/16", true],
    ["10.1.0.0/16", "10.2.0.0/16", false],
    ["10.0.0.0/8", "192.168.0.0/16", false],
    ["fd00::/8", "fd12::/32", true],
    ["fd00::/16", "fd01::/16", false],
    ["0.0.0.0/0", "::/0", false],
  ])("%s and %s overlap: %s", (a, b, expected) => {
    expect([overlaps(cidr(a), cidr(b)), overlaps(cidr(b), cidr(a))]).toEqual([expected, expected]);
  });
});

describe("the host of an address with a prefix", () => {
  it.each([
    ["10.4.0.1/32", "10.4.0.1"],
    ["10.4.0.1/16", "10.4.0.1"],
    ["10.4.0.1/24", "10.4.0.1"],
    ["fd00::1/128", "fd00::1"],
    ["fd00::1/64", "fd00::1"],
  ])("of %s is %s", (text, expected) => {
    const host = parseHostInCidr(text);
    expect(host && formatIp(host)).toBe(expected);
  });

  it.each(["nonsense", "", "10.4.0.1"])("of %j is none", (text) => {
    expect(parseHostInCidr(text)).toBeUndefined();
  });

  it.each([
    ["10.4.0.1", "10.4.0.1/32"],
    ["10.4.0.0", "10.4.0.0/32"],
    ["fd00::1", "fd00::1/128"],
  ])("%s alone is routed as %s", (text, expected) => {
    const address = parseIp(text);
    expect(address && hostRoute(address).text).toBe(expected);
  });
});

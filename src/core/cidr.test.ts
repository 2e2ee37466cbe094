import { isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Cidr,
  compareCidrs,
  contains,
  containsIp,
  formatIp,
  hostRoute,
  type IpAddress,
  overlaps,
  parseCidr,
  parseHostInCidr,
  parseIp,
} from "./cidr.ts";

const cidr = (text: string): Cidr => {
  const parsed = parseCidr(text);
  if (!parsed) throw new Error(`not a CIDR: ${text}`);
  return parsed;
};

const firstOf = ({ text }: Cidr): IpAddress => {
  const address = parseHostInCidr(text);
  if (!address) throw new Error(`not a CIDR: ${text}`);
  return address;
};

describe("a CIDR", () => {
  it.each([
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["10.1.2.3/16", "10.1.0.0/16"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["192.0.2.7/32", "192.0.2.7/32"],
    ["FD00::1/64", "fd00::/64"],
    ["::/0", "::/0"],
    ["2001:db8:0:0:1::/80", "2001:db8:0:0:1::/80"],
    ["1:0:0:2:0:0:0:3/128", "1:0:0:2::3/128"],
    ["::ffff:10.1.2.3/104", "10.0.0.0/8"],
    ["64:ff9b::10.1.2.3/128", "64:ff9b::a01:203/128"],
  ])("%s is read as %s", (text, canonical) => {
    expect(parseCidr(text)?.text).toBe(canonical);
  });

  it.each([
    "",
    "10.0.0.0",
    "10/8",
    "10.0.0/8",
    "256.0.0.0/8",
    "010.0.0.0/8",
    "10.0.0.0/33",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "10.0.0.0/8 ",
    " 10.0.0.0/8",
    "10.0.0.0/",
    "0x0a.0.0.0/8",
    "10.0.0.0/8/8",
    "12345::/16",
    "1:2:3:4:5:6:7:8:9/64",
    "1:2:3:4:5:6:7/64",
    "::1::/64",
    "fe80::1%eth0/64",
    "::/129",
    ":::/64",
    "1.2.3.4::/64",
    "::ffff:10.0.0.0/95",
    "10.0.0.0/+8",
    "1::2:3:4:5:6:7:8/64",
  ])("%j is refused", (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });
});

describe("an address", () => {
  it("is accepted exactly when Node accepts it, zones aside", () => {
    const texts = fc.oneof(fc.ipV4(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.]{1,24}$/));
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseIp(text) !== undefined).toBe(isIPv4(text) || isIPv6(text));
      }),
      { numRuns: 2000 },
    );
  });

  it("survives being written and read again, in the one spelling Node's URL parser uses too", () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const address = parseIp(text);
        if (!address) throw new Error(text);
        expect(parseIp(formatIp(address))).toEqual(address);
        if (address.family === 6) expect(new URL(`http://[${text}]/`).hostname).toBe(`[${formatIp(address)}]`);
      }),
    );
  });

  it("keeps its host part out of a CIDR", () => {
    expect(parseHostInCidr("10.4.0.1/16")).toEqual(parseIp("10.4.0.1"));
    expect(parseHostInCidr("10.4.0.1")).toBeUndefined();
  });
});

describe("containment and overlap", () => {
  it.each([
    ["10.0.0.0/8", "10.1.0.0/16", true],
    ["10.1.0.0/16", "10.0.0.0/8", false],
    ["10.0.0.0/9", "10.128.0.0/9", false],
    ["0.0.0.0/0", "10.0.0.0/8", true],
    ["0.0.0.0/0", "::/0", false],
    ["fd00::/8", "fd12::/32", true],
  ])("%s contains %s: %s", (outer, inner, expected) => {
    expect(contains(cidr(outer), cidr(inner))).toBe(expected);
  });

  it("two networks overlap exactly when one holds an address of the other", () => {
    const networks = fc
      .tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }))
      .map(([ip, prefix]) => cidr(`${ip}/${prefix}`));
    fc.assert(
      fc.property(networks, networks, (a, b) => {
        const holds = containsIp(a, firstOf(b)) || containsIp(b, firstOf(a));
        expect(overlaps(a, b)).toBe(holds);
        expect(overlaps(b, a)).toBe(holds);
      }),
    );
  });

  it("a host route holds its address alone", () => {
    const address = parseIp("10.1.2.3");
    if (!address) throw new Error("unreachable");
    expect(hostRoute(address).text).toBe("10.1.2.3/32");
  });

  it("routes are sorted by family, address and size", () => {
    const texts = ["fd00::/8", "10.1.0.0/16", "10.0.0.0/8", "10.1.0.0/24", "9.0.0.0/8"];
    expect(
      texts
        .map(cidr)
        .sort(compareCidrs)
        .map(({ text }) => text),
    ).toEqual(["9.0.0.0/8", "10.0.0.0/8", "10.1.0.0/16", "10.1.0.0/24", "fd00::/8"]);
  });
});

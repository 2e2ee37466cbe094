import fc from "fast-check";
import { expect, it } from "vitest";
import { type Cidr, overlaps, parseCidr, parseIp } from "./cidr.ts";
import { rangesOf } from "./ranges.ts";

/** Few addresses, so that networks meet. */
const networks: fc.Arbitrary<Cidr> = fc
  .tuple(fc.integer({ min: 0, max: 63 }), fc.integer({ min: 24, max: 32 }), fc.boolean())
  .map(([low, prefix, v6]) => {
    const cidr = parseCidr(v6 ? `fd00::${low.toString(16)}/${prefix + 96}` : `10.0.0.${low}/${prefix}`);
    if (!cidr) throw new Error("unreachable");
    return cidr;
  });

it("a set of addresses is touched by a network exactly when one of its members overlaps it", () => {
  fc.assert(
    fc.property(fc.array(networks, { maxLength: 8 }), networks, (members, asked) => {
      expect(rangesOf(members).touches(asked)).toBe(members.some((member) => overlaps(member, asked)));
    }),
    { numRuns: 1000 },
  );
});

it("an address counts as the network of itself alone", () => {
  const address = parseIp("10.0.0.7");
  const [around, beside] = [parseCidr("10.0.0.0/24"), parseCidr("10.0.0.8/32")];
  if (!address || !around || !beside) throw new Error("unreachable");
  const ranges = rangesOf([], [address]);
  expect([ranges.touches(around), ranges.touches(beside)]).toEqual([true, false]);
});

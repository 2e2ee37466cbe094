import fc from "fast-check";
import { expect, it } from "vitest";
import { type Cidr, contains, overlaps, parseCidr, parseIp } from "./cidr.ts";
import { aggregate, meet, rangesOf, steadyRanges } from "./ranges.ts";

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

it("two sets meet exactly when members of them overlap", () => {
  const sets = fc.array(networks, { maxLength: 5 });
  fc.assert(
    fc.property(sets, sets, (some, others) => {
      const isMeeting = some.some((one) => others.some((other) => overlaps(one, other)));
      expect(meet(rangesOf(some), rangesOf(others))).toBe(isMeeting);
    }),
    { numRuns: 1000 },
  );
});

it("a steady set is the one before exactly while the next has the same addresses", () => {
  const sets = fc.array(networks, { maxLength: 2 });
  fc.assert(
    fc.property(sets, sets, (some, others) => {
      const steady = steadyRanges();
      const [first, next] = [rangesOf(some), rangesOf(others)];
      expect([steady(first), steady(rangesOf(some))]).toEqual([first, first]);
      expect(steady(next)).toBe(sameAtoms(some, others) ? first : next);
    }),
    { numRuns: 500 },
  );
});

it("an address counts as the network of itself alone", () => {
  const address = parseIp("10.0.0.7");
  const [around, beside] = [parseCidr("10.0.0.0/24"), parseCidr("10.0.0.8/32")];
  if (!address || !around || !beside) throw new Error("unreachable");
  const ranges = rangesOf([], [address]);
  expect([ranges.touches(around), ranges.touches(beside)]).toEqual([true, false]);
});

const sameAtoms = (some: readonly Cidr[], others: readonly Cidr[]): boolean =>
  atoms(some).symmetricDifference(atoms(others)).size === 0;

/** One bit of the address space of these tests at a time. */
const atoms = (cidrs: readonly Cidr[]): Set<string> => {
  const all = [...Array(256).keys()].flatMap((low) => [`10.0.0.${low}/32`, `fd00::${low.toString(16)}/128`]);
  const inside = (text: string): boolean => {
    const atom = parseCidr(text);
    return atom !== undefined && cidrs.some((cidr) => contains(cidr, atom));
  };
  return new Set(all.filter(inside));
};

it("a set covers a network exactly when it has every address of it, in whatever pieces", () => {
  fc.assert(
    fc.property(fc.array(networks, { maxLength: 8 }), networks, (members, asked) => {
      const there = atoms(members);
      const isThere = [...atoms([asked])].every((atom) => there.has(atom));
      expect(rangesOf(members).covers(asked)).toBe(isThere);
    }),
    { numRuns: 300 },
  );
});

it("aggregated networks have exactly the same addresses, in the fewest pieces, whatever the order", () => {
  fc.assert(
    fc.property(fc.array(networks, { maxLength: 8 }), (members) => {
      const wide = aggregate(members);
      expect(atoms(wide)).toEqual(atoms(members));
      expect(aggregate([...members].reverse())).toEqual(wide);
      expect(aggregate(wide)).toEqual(wide);
      const fewer = wide.some((a) => wide.some((b) => a !== b && (overlaps(a, b) || aggregate([a, b]).length === 1)));
      expect(fewer).toBe(false);
    }),
    { numRuns: 300 },
  );
});

it("two halves of everything never become the default route", () => {
  const halves = ["0.0.0.0/1", "128.0.0.0/1"].flatMap((text) => parseCidr(text) ?? []);
  expect(aggregate(halves)).toEqual(halves);
});

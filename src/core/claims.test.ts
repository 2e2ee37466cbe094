import fc from "fast-check";
import { expect, it } from "vitest";
import { overlaps, parseCidr } from "./cidr.ts";
import { type Claim, settleClaims } from "./claims.ts";

const claim = (peer: string, text: string, overrides: Partial<Claim> = {}): Claim => {
  const route = parseCidr(text);
  if (!route) throw new Error("unreachable");
  return { peer, cluster: `of ${peer}`, route, incumbent: false, rank: "", ...overrides };
};

/** Few routes and Peers, so that claims meet. */
const claims = fc
  .tuple(fc.nat(15), fc.integer({ min: 27, max: 32 }), fc.nat(3), fc.boolean())
  .map(([low, prefix, peer, incumbent]) =>
    claim(`p${peer}`, `10.0.0.${low}/${prefix}`, { incumbent, cluster: `c${peer >> 1}`, rank: `${3 - peer}` }),
  );

const areRivals = (a: Claim, b: Claim): boolean =>
  a.peer !== b.peer && overlaps(a.route, b.route) && (a.cluster !== b.cluster || a.route.text === b.route.text);

it("no two Peers get the same route, nor two clusters one inside the other, and nobody is refused without a rival", () => {
  fc.assert(
    fc.property(fc.array(claims, { maxLength: 12 }), (wanted) => {
      const { granted, refused } = settleClaims(wanted);
      expect(granted.length + refused.length).toBe(wanted.length);
      expect(granted.some((a) => granted.some((b) => areRivals(a, b)))).toBe(false);
      for (const { claim: lost, by } of refused) {
        expect(areRivals(lost, by)).toBe(true);
        expect(granted).toContain(by);
        expect(lost.incumbent && !by.incumbent).toBe(false);
      }
    }),
    { numRuns: 500 },
  );
});

it("Peers are entangled exactly when granted routes of theirs and of others lie inside each other", () => {
  const ofAnyCluster = fc
    .tuple(claims, fc.constantFrom("c0", "c1"))
    .map(([one, cluster]): Claim => ({ ...one, cluster }));
  fc.assert(
    fc.property(fc.array(ofAnyCluster, { maxLength: 8 }), (wanted) => {
      const { granted, entangled } = settleClaims(wanted);
      const isNested = (a: Claim): boolean => granted.some((b) => a.peer !== b.peer && overlaps(a.route, b.route));
      expect(entangled).toEqual(new Set(granted.filter(isNested).map(({ peer }) => peer)));
    }),
    { numRuns: 1000 },
  );
});

it("a route that thousands of nodes claim goes to one of them, and costs no more than other routes", () => {
  const wanted = Array.from({ length: 20_000 }, (_, index) => claim(`p${index}`, "10.0.2.15/32", { cluster: "one" }));
  const { granted, refused } = settleClaims([...wanted, claim("around", "10.0.0.0/16", { cluster: "one" })]);
  expect(granted.map(({ peer }) => peer)).toEqual(["around", "p0"]);
  expect(refused).toHaveLength(19_999);
});

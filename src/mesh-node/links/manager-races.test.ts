import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BedNode, LinkBed, wantEachOther } from "../../../test/support/link-bed.ts";

type Step =
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "cut" | "heal"; readonly one: number; readonly other: number }
  | { readonly kind: "restart" | "crash" | "leave" | "blink"; readonly one: number };

const count = 3;
const node = fc.nat({ max: count - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("wait" as const), ms: fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 15_000 })) }),
  fc.record({ kind: fc.constantFrom("cut" as const, "heal" as const), one: node, other: node }),
  fc.record({
    kind: fc.constantFrom("restart" as const, "crash" as const, "leave" as const, "blink" as const),
    one: node,
  }),
);

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

class Race {
  readonly bed: LinkBed;
  readonly all: BedNode[] = [];
  nodes: BedNode[] = [];

  constructor(seed: number, slowestMs: number) {
    const random = randomOf(seed);
    this.bed = new LinkBed(random, () => Math.floor(random() * slowestMs));
  }

  async begin(): Promise<void> {
    this.nodes = await this.bed.startSorted(count);
    this.all.push(...this.nodes);
    wantEachOther(this.nodes);
  }

  async run(step: Step): Promise<void> {
    if (step.kind === "wait") return this.bed.clock.advance(step.ms);
    const one = this.nodes[step.one] as BedNode;
    if (step.kind === "blink") {
      one.manager.want([]);
      return wantEachOther(this.nodes);
    }
    if (!("other" in step)) return this.#replace(step.one, step.kind);
    const other = this.nodes[step.other] as BedNode;
    if (one === other) return;
    if (step.kind === "cut") this.bed.network.cut(one.id, other.id);
    else this.bed.network.heal(one.id, other.id);
  }

  async healAll(): Promise<void> {
    for (const one of this.nodes) for (const other of this.nodes) this.bed.network.heal(one.id, other.id);
    await this.bed.clock.advance(120_000);
  }

  /** The new process has a new address: everybody is told at once. */
  async #replace(index: number, how: "restart" | "crash" | "leave"): Promise<void> {
    const old = this.nodes[index] as BedNode;
    if (how === "crash") await this.bed.crash(old);
    else await old.manager.close();
    if (how === "leave") await this.bed.clock.advance(200);
    const fresh = await this.bed.start(old.name);
    this.all.push(fresh);
    this.nodes = this.nodes.with(index, fresh);
    wantEachOther(this.nodes);
  }
}

describe("whatever happens to a mesh", () => {
  it("ends with exactly one link per pair, the same one on both sides, and then stands still", async () => {
    const scenario = fc.record({
      seed: fc.nat(),
      slowestMs: fc.constantFrom(1, 30, 400, 1_500),
      steps: fc.array(step, { maxLength: 14 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ seed, slowestMs, steps }) => {
        const race = new Race(seed, slowestMs);
        await race.begin();
        for (const one of steps) await race.run(one);
        await race.healAll();
        const histories = race.nodes.map(({ handled }) => handled.history.length);
        await expectOneLinkPerPair(race);
        await race.bed.clock.advance(60_000);
        expect(race.nodes.map(({ handled }) => handled.history.length)).toEqual(histories);
        expect(race.all.flatMap(({ handled }) => handled.broken)).toEqual([]);
        await race.bed.close();
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  it("two that dial each other in the same moment have one link and never two", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.constantFrom(1, 50, 900),
        fc.nat({ max: 300 }),
        async (seed, slowestMs, laterMs) => {
          const random = randomOf(seed);
          const bed = new LinkBed(random, () => Math.floor(random() * slowestMs));
          const [lower, higher] = (await bed.startSorted(2)) as [BedNode, BedNode];
          void higher.manager.connect(lower.peer());
          await bed.clock.advance(laterMs);
          void lower.manager.connect(higher.peer());
          await bed.clock.advance(30_000);
          expect([lower, higher].map(({ manager }) => manager.links().length)).toEqual([1, 1]);
          expect([...lower.handled.broken, ...higher.handled.broken]).toEqual([]);
          if (slowestMs < 100) expect([lower.handled.history, higher.handled.history]).toEqual([["up"], ["up"]]);
          await bed.close();
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);
});

/** A frame that is sent on a link arrives at the link that the other side has: both mean the same connection. */
async function expectOneLinkPerPair({ nodes, bed }: Race): Promise<void> {
  for (const one of nodes) {
    const others = nodes.filter((other) => other !== one);
    expect(one.manager.links().map(({ peer }) => peer)).toEqual(others.map(({ id }) => id));
    for (const other of others) await one.handled.linkTo(other.id)?.send(Buffer.from(`from ${one.name}`));
  }
  await bed.clock.advance(5_000);
  for (const one of nodes) {
    const heard = one.handled.frames.map(({ text }) => text).sort();
    expect(heard).toEqual(
      nodes
        .filter((other) => other !== one)
        .map(({ name }) => `from ${name}`)
        .sort(),
    );
  }
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, conn } from "../../test/support/build.ts";
import { aState, numbers, Scene } from "../../test/support/scene.ts";
import type { NodeFacts } from "./node.ts";
import { planTarget } from "./plan.ts";
import { Recall } from "./recall.ts";

describe("a plan that goes on from earlier ones", () => {
  it("is the plan that knows of none, whatever happened in between", () => {
    fc.assert(
      fc.property(fc.array(aState, { minLength: 2, maxLength: 5 }), (states) => {
        const scene = new Scene();
        const recalls = numbers.map(() => new Recall());
        for (const state of states) {
          scene.edit(state);
          for (let round = 0; round < 3; round++) {
            const world = scene.world(state);
            for (const [index, recall] of recalls.entries()) {
              const target = conn(index + 1);
              expect(planTarget(world, target, recall)).toEqual(planTarget(world, target));
              scene.advance(state, index);
            }
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it("asks again only about the source in which a node changed", () => {
    const asked: string[] = [];
    const resolved = new (class extends Map<string, readonly string[]> {
      override get(name: string) {
        asked.push(name);
        return super.get(name);
      }
    })([2, 3].map((cluster) => [`gw${cluster}.example.org`, [`198.51.100.${cluster}`]]));
    const behind = (cluster: number, facts: Partial<NodeFacts> = {}): NodeFacts =>
      aNode(cluster, 0, { clustermeshEndpoint: `gw${cluster}.example.org:7`, ...facts });
    const [one, two, three] = [aView([aNode(1, 0)]), aView([behind(2)]), aView([behind(3)])];
    const world = aWorld({ meshes: [aMesh(3)], views: [one, two, three], overrides: { resolved } });
    const recall = new Recall();
    planTarget(world, conn(1), recall);
    expect(new Set(asked)).toEqual(new Set(["gw2.example.org", "gw3.example.org"]));
    asked.length = 0;
    const changed = aView([behind(3, { podCidrs: ["10.3.7.0/24"] })]);
    planTarget({ ...world, clusters: new Map(world.clusters).set(conn(3), changed) }, conn(1), recall);
    expect(new Set(asked)).toEqual(new Set(["gw3.example.org"]));
  });
});

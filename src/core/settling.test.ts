import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planOf } from "../../test/support/build.ts";
import { aState, numbers, Scene, type State } from "../../test/support/scene.ts";
import { containsIp, parseIp } from "./cidr.ts";
import { hostText } from "./endpoint.ts";
import { keptMark } from "./move.ts";

/** Plays the states one after the other; what holds at the end of each is checked in every cluster whose nodes are known. */
function play(states: readonly State[], check: (scene: Scene, state: State, index: number) => void): void {
  const scene = new Scene();
  for (const state of states) {
    scene.edit(state);
    expect(scene.settle(state)).toBeLessThan(40);
    for (const [index, { isKnown }] of state.clusters.entries()) if (isKnown) check(scene, state, index);
  }
}

const always = (check: (scene: Scene, state: State, index: number) => void): void =>
  fc.assert(
    fc.property(fc.array(aState, { minLength: 1, maxLength: 3 }), (states) => play(states, check)),
    { numRuns: 60 },
  );

const withKnown = (state: State, lost: number): State => ({
  ...state,
  clusters: state.clusters.map((cluster, index) =>
    index === lost ? { ...cluster, isKnown: false } : cluster,
  ) as State["clusters"],
});

describe("whatever there is and whatever somebody did, a target settles, and then", () => {
  it("a restart writes nothing, also while no name is resolved and nobody is known to be silent", () => {
    always((scene, state, index) => {
      expect(scene.changes({ ...state, addresses: [] }, index)).toEqual([]);
      expect(scene.changes(state, index, true)).toEqual([]);
    });
  });

  it("a cluster that is lost, or its own nodes, cost no Peer anything", () => {
    always((scene, state, index) => {
      for (const [lost] of numbers.entries()) {
        const changes = scene.changes(withKnown(state, lost), index);
        expect(changes.filter(({ action }) => action !== "create")).toEqual([]);
      }
    });
  });

  it("no key is wanted on two Peers, no move is left half done, and no route of ours covers an endpoint", () => {
    always((scene, state, index) => {
      const { peers } = planOf(scene.world(state), index + 1);
      const held = scene.held[index] ?? [];
      expect(new Set(peers.map(({ publicKey }) => publicKey)).size).toBe(peers.length);
      expect(peers.filter(({ move }) => move !== "" && keptMark(move))).toEqual([]);
      const endpoints = held.flatMap(({ endpoint }) => (endpoint ? (parseIp(hostText(endpoint)) ?? []) : []));
      const routes = peers.flatMap((peer) => peer.routes);
      expect(routes.filter((route) => endpoints.some((address) => containsIp(route, address)))).toEqual([]);
    });
  });

  it("what is not ours is as somebody left it", () => {
    always((scene, _, index) => {
      expect(scene.held[index]).toEqual(expect.arrayContaining([...(scene.foreign[index] ?? [])]));
    });
  });
});

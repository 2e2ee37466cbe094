import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf, unknown } from "../../test/support/build.ts";
import { networksIn } from "./cidr.ts";
import { meshId } from "./ids.ts";
import type { Mesh } from "./mesh.ts";

describe("Peers of a cluster that cannot be reached", () => {
  it("keep everything they have from others, also where their routes lie inside each other", () => {
    const full = aMesh(3);
    const first: Mesh = { ...full, entries: full.entries.filter(({ name }) => name !== "c3") };
    const entries = full.entries
      .filter(({ name }) => name !== "c2")
      .map((entry) => {
        if (entry.name !== "c3" || entry.networks.form === "flat") return entry;
        return { ...entry, networks: { ...entry.networks, clusterWide: networksIn(["10.2.9.0/24"]) } };
      });
    const other: Mesh = { ...full, id: meshId("kilo-system", "other"), name: "other", entries };
    const views = [aView([aNode(1, 0)]), aView([aNode(2, 0), aNode(2, 1)]), aView([aNode(3, 0)])] as const;
    const held = planOf(aWorld({ meshes: [first], views }), 1).peers.map((peer) => heldAs(peer));
    for (const wide of held) {
      const edited = held.map((peer) => (peer === wide ? { ...peer, allowedIps: ["10.2.0.0/16"] } : peer));
      const lost = [aView([aNode(1, 0)], { peers: known(edited) }), aView([], { nodes: unknown }), views[2]];
      const { peers } = planOf(aWorld({ meshes: [first, other], views: lost }), 1);
      expect(peers.flatMap(({ routes }) => routes.map(({ text }) => text))).toEqual(["10.3.0.0/24", "10.200.3.1/32"]);
    }
  });
});

import { describe, expect, it } from "vitest";
import {
  aMesh,
  aNode,
  aView,
  aWorld,
  conn,
  connected,
  heldAs,
  known,
  planOf,
  unknown,
} from "../../test/support/build.ts";
import { clusterName } from "./ids.ts";
import { abandoned, leavingLimitMs, mayClose, partingOf, replacedNotes } from "./leave.ts";
import type { ClusterView, ConnectedMesh, World } from "./world.ts";

const mesh = aMesh(2);
const nodes = [aNode(1, 0), aNode(2, 0), aNode(3, 0)].map((node) => [node]);
const [here = [], there = [], old = []] = nodes;
const [ours] = planOf(aWorld({ meshes: [mesh], views: [aView(here), aView(there)] }), 1).peers.map((peer) =>
  heldAs(peer),
);
if (!ours) throw new Error("a plan without Peers");

/** The third cluster is leaving. */
function leavingWorld(view: ClusterView, overrides: Partial<World> = {}): World {
  return aWorld({
    meshes: [mesh],
    views: [aView(here), aView(there), view],
    overrides: { leaving: new Set([conn(3)]), ...overrides },
  });
}

describe("a cluster that no mesh asks for any more", () => {
  it("is closed when it holds nothing of ours", () => {
    const foreign = { ...ours, instance: "somebody" };
    const world = leavingWorld(aView(old, { peers: known([foreign]) }));
    expect(mayClose(world, conn(3), 0)).toBe(true);
    expect(partingOf(world, conn(3))).toBe("empty");
  });

  it("stays open while it holds a Peer of ours, but not longer than ten minutes", () => {
    const world = leavingWorld(aView(old, { peers: known([ours]) }));
    expect(mayClose(world, conn(3), leavingLimitMs - 1)).toBe(false);
    expect(mayClose(world, conn(3), leavingLimitMs)).toBe(true);
    expect(partingOf(world, conn(3))).toBeUndefined();
  });

  it("stays open while it holds a Peer of the Go operator that a mesh can mean", () => {
    const legacy = { ...ours, instance: "", owners: [] };
    const world = leavingWorld(aView(old, { peers: known([legacy]) }));
    expect(partingOf(world, conn(3))).toBeUndefined();
    expect(partingOf({ ...world, meshes: [] }, conn(3))).toBe("empty");
  });

  it("stays open while it does not answer: it may come back", () => {
    expect(mayClose(leavingWorld(aView(old, { peers: unknown })), conn(3), 0)).toBe(false);
  });

  it("stays open while it forbids what it allowed: an API server that starts says so for a moment", () => {
    const peers = { state: "unknown", reason: "Forbidden" } as const;
    expect(mayClose(leavingWorld(aView(old, { peers })), conn(3), 0)).toBe(false);
  });

  it("is closed when its credentials are refused: nothing can be taken away there", () => {
    const peers = { state: "unknown", reason: "Unauthorized" } as const;
    expect(mayClose(leavingWorld(aView(old, { peers })), conn(3), 0)).toBe(true);
  });

  it("is closed at once when another connection speaks for it, and that one is its heir", () => {
    const view = aView(there, { peers: known([ours]) });
    const world = leavingWorld(view, { twins: new Map([[conn(3), conn(2)]]) });
    expect(mayClose(world, conn(3), 0)).toBe(true);
    expect(partingOf(world, conn(3))).toBe(conn(2));
  });

  it("loses the Peers of a mesh that is gone", () => {
    const orphan = aView(old, { peers: known([ours]) });
    const world = leavingWorld(orphan, { meshes: [] });
    expect(planOf(world, 3)).toMatchObject({ peers: [], kept: [] });
  });

  it("keeps the Peers of a mesh of which one cluster is not found now: it may be this one, if it has its networks", () => {
    const lost: ConnectedMesh = {
      ...connected(mesh),
      connections: new Map([
        [clusterName("c1"), { state: "connected", id: conn(1) }],
        [clusterName("c2"), { state: "unknown", reason: "SecretMissing" }],
      ]),
    };
    const theirs = planOf(aWorld({ meshes: [mesh], views: [aView(here), aView(there)] }), 2).peers;
    const peers = known(theirs.map((peer) => heldAs(peer)));
    expect(planOf(leavingWorld(aView(there, { peers }), { meshes: [lost] }), 3).kept).toMatchObject([
      { reason: "OwnedElsewhere" },
    ]);
    expect(planOf(leavingWorld(aView(old, { peers }), { meshes: [lost] }), 3).kept).toEqual([]);
  });
});

describe("a Secret that leads to another cluster", () => {
  const replaced: ConnectedMesh = { ...connected(mesh), before: new Map([[clusterName("c2"), conn(3)]]) };

  it("is told as ClusterReplaced while the old cluster is emptied, and only then", () => {
    const world = leavingWorld(aView(old, { peers: known([ours]) }), { meshes: [replaced] });
    expect(planOf(world, 2).notes).toMatchObject([{ owners: [mesh.id], source: "c2", reason: "ClusterReplaced" }]);
    expect(replacedNotes({ ...world, leaving: new Set() }, conn(2))).toEqual([]);
    expect(replacedNotes(world, conn(1))).toEqual([]);
  });

  it("is told when the old cluster is closed with Peers left in it, and only then", () => {
    const world = (view: ClusterView) => leavingWorld(view, { meshes: [replaced] });
    const told = (view: ClusterView) => abandoned(world(view), conn(3)).map(({ source }) => source);
    expect(told(aView(old, { peers: known([ours]) }))).toEqual(["c2"]);
    expect(told(aView(old))).toEqual([]);
    const silent = aView([], { nodes: unknown, peers: unknown });
    expect(told({ ...silent, trust: "another ca" })).toEqual(["c2"]);
    expect(told(silent)).toEqual([]);
  });

  it("is no news when the new kubeconfig leads to the same cluster, also with a new authority", () => {
    const world = leavingWorld(aView(there, { peers: known([ours]), trust: "old ca" }), { meshes: [replaced] });
    expect(replacedNotes(world, conn(2))).toEqual([]);
    expect(partingOf(world, conn(3))).toBe(conn(2));
  });
});

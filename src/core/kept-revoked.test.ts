import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, connected, heldAs, known, planOf, unknown } from "../../test/support/build.ts";
import { networksIn } from "./cidr.ts";
import { diffPeers } from "./diff.ts";
import { clusterName } from "./ids.ts";
import type { KeptReason } from "./kept.ts";
import type { Mesh } from "./mesh.ts";
import type { HeldPeer } from "./peer.ts";
import type { ClusterView, ConnectedMesh, World } from "./world.ts";

const here = [aNode(2, 0)];
const lost = aView([], { nodes: unknown });
const allowedCidrs = networksIn(["10.0.0.0/8"]);

/** What the second cluster holds of the first. */
const heldFor = (mesh: Mesh): HeldPeer[] =>
  planOf(aWorld({ meshes: [mesh], views: [aView([aNode(1, 0)]), aView(here)] }), 2).peers.map((peer) => heldAs(peer));

/** The second cluster is led to by nothing that is known now. */
const led = (mesh: Mesh): ConnectedMesh => {
  const { connections, ...rest } = connected(mesh);
  return { ...rest, connections: new Map(connections).set(clusterName("c2"), unknownEntry) };
};
const unknownEntry = { state: "unknown", reason: "SecretMissing" } as const;

interface Case {
  readonly reason: KeptReason;
  readonly source?: ClusterView;
  readonly world?: (mesh: Mesh) => Partial<World>;
}

const departure = { name: aNode(1, 0).name, afterMs: 5000, needsList: false };
const cases: readonly Case[] = [
  { reason: "SourceUnknown", source: lost },
  { reason: "NodeDeparting", source: aView([], { departures: [departure] }) },
  { reason: "NodeNotReady", source: aView([aNode(1, 0, { key: "", wireguardIp: "" })]) },
  { reason: "WithdrawalHeld", source: aView([], { absenceProven: false }) },
  { reason: "OwnedElsewhere", world: (mesh) => ({ meshes: [led(mesh)] }) },
  { reason: "MeshNotAccepted", world: ({ id }) => ({ meshes: [], refused: new Set([id]) }) },
];

function planFor({ source = aView([aNode(1, 0)]), world }: Case, mesh: Mesh, held: readonly HeldPeer[]) {
  const views = [source, aView(here, { peers: known(held) })];
  return (overrides: Partial<World> = {}) =>
    planOf(aWorld({ meshes: [mesh], views, overrides: { ...world?.(mesh), ...overrides } }), 2);
}

describe("a Peer that is only kept", () => {
  it.each(cases)("loses what the allowlist does not cover ($reason)", (one) => {
    const mesh = aMesh(2, { allowedNetworks: ["10.1.0.0/16", "10.200.1.0/24"] });
    const planned = planFor(one, mesh, heldFor(mesh));
    expect(planned().kept).toMatchObject([{ reason: one.reason }]);
    expect(diffPeers(planned())).toEqual([]);
    expect(diffPeers(planned({ allowedCidrs }))).toMatchObject([
      { action: "shrink", routes: ["10.1.0.0/24", "10.200.1.1/32"] },
    ]);
  });
});

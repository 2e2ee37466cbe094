import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type ClusterMeshObject, readMesh } from "../src/api/cluster-mesh.ts";
import { type NodeObject, readNode } from "../src/api/kilo-node.ts";
import { type PeerObject, readPeer, renderPeer } from "../src/api/kilo-peer.ts";
import { diffPeers, type PeerChange } from "../src/core/diff.ts";
import { clusterName } from "../src/core/ids.ts";
import type { KnownPlan } from "../src/core/plan.ts";
import { aView, aWorld, conn, known, planOf } from "./support/build.ts";

function load<T>(name: string): T {
  return JSON.parse(readFileSync(`test/fixtures/go-operator/${name}.json`, "utf8")) as T;
}

/** What the Go operator left in the two clusters of a fixture, seen for the first time. */
function takeover(fixture: string) {
  const record = readMesh(load<ClusterMeshObject>(`${fixture}-clustermesh-stored`));
  if (record.state === "refused") throw new Error(JSON.stringify(record.problems));
  const peers = [1, 2].map((number) => load<{ items: PeerObject[] }>(`${fixture}-c${number}-peers`).items);
  const views = [1, 2].map((number) => {
    const nodes = load<{ items: NodeObject[] }>(`${fixture}-c${number}-nodes`).items.map(
      (node) => readNode(node).facts,
    );
    return aView(nodes, { peers: known((peers[number - 1] ?? []).map((peer) => readPeer(peer))) });
  });
  const connections = new Map(
    [1, 2].map((number) => [clusterName(`c${number}`), { state: "connected", id: conn(number) }] as const),
  );
  const meshes = [{ mesh: record.mesh, connections, ledger: new Set([conn(1), conn(2)]) }];
  const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
  const world = aWorld({ views, overrides: { meshes, digest } });
  const plans: KnownPlan[] = [1, 2].map((number) => planOf(world, number));
  return { peers: peers.flat(), plans, changes: plans.flatMap(diffPeers) };
}

/** The spec that would be written over what is there. */
function written(change: PeerChange, peers: readonly PeerObject[]): { before: unknown; after: unknown } {
  if (change.action !== "update") throw new Error(`${change.action} of ${JSON.stringify(change)}`);
  const before = peers.find(({ metadata }) => metadata.name === change.held.name);
  return { before: before?.spec, after: renderPeer(change.peer, "me", before).spec };
}

describe("the Go operator's Peers", () => {
  it("are all adopted and stamped, with no byte of their spec changed and none deleted", () => {
    const { changes, peers } = takeover("small");
    expect(changes).toHaveLength(4);
    for (const change of changes) {
      const { before, after } = written(change, peers);
      expect(after).toEqual(before);
    }
  });

  it("are in the plan under the names they have, and nothing is kept back", () => {
    const { plans, peers } = takeover("small");
    expect(plans.flatMap((plan) => plan.peers.map(({ name }) => name)).sort()).toEqual(
      peers.map(({ metadata }) => metadata.name).sort(),
    );
    expect(plans.flatMap(({ kept, taken, refused }) => [...kept, ...taken, ...refused])).toEqual([]);
  });

  it("gain at most a placeholder where they have no endpoint; a name that does not resolve is left", () => {
    const { changes, peers } = takeover("variant");
    expect(changes.map(({ action }) => action)).toEqual(["update", "update", "update", "update"]);
    const differing = changes
      .map((change) => written(change, peers))
      .filter(({ before, after }) => {
        return JSON.stringify(before) !== JSON.stringify(after);
      });
    expect(differing).toEqual([
      {
        before: expect.not.objectContaining({ endpoint: expect.anything() }),
        after: expect.objectContaining({ endpoint: { dnsOrIP: { ip: "198.18.2.1" }, port: 51820 } }),
      },
    ]);
  });
});

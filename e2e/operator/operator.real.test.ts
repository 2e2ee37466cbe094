import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import {
  addNode,
  applyMesh,
  buildBundle,
  byOperator,
  furnish,
  isLease,
  isOpenWatch,
  isWrite,
  nodeNameOf,
  type OperatorProcess,
  peerNamesIn,
  peersIn,
  quickStart,
  readyOf,
  startOperator,
} from "./real-mesh.ts";

const nodesEach = 2;

/** What each cluster should hold: a Peer for each node of every other, by the Go operator's names. */
function expectedNames(clusters: number, target: number, nodesOf: (number: number) => number): string[] {
  const others = Array.from({ length: clusters }, (_, number) => number).filter((number) => number !== target);
  const nodes = others.flatMap((number) =>
    Array.from({ length: nodesOf(number) }, (_, index) => nodeNameOf(number, index)),
  );
  return nodes.map((node) => `my-mesh--${node.replace(/-\d+$/, "")}--${node}`).sort();
}

async function holds(plane: ControlPlane, nodesOf: (number: number) => number): Promise<void> {
  for (const [target, cluster] of plane.clusters.entries()) {
    expect(await peerNamesIn(cluster)).toEqual(expectedNames(plane.clusters.length, target, nodesOf));
  }
}

const at = (plane: ControlPlane, number: number): RealCluster => {
  const cluster = plane.clusters[number];
  if (!cluster) throw new Error(`no cluster ${number}`);
  return cluster;
};

describe.each([2, 3])("the shipped operator on %i real clusters", (clusters) => {
  let plane: ControlPlane;
  let operator: OperatorProcess;

  beforeAll(async () => {
    await buildBundle();
    plane = await startControlPlane({ clusters, audit: true });
    await furnish(plane, nodesEach);
    operator = await startOperator({ plane });
    await applyMesh(plane, quickStart(clusters));
  }, 120_000);

  afterAll(async () => {
    await operator?.child.stop();
    await plane?.stop();
  });

  it("writes the right Peers everywhere and says that the mesh is ready", async () => {
    await eventually(() => holds(plane, () => nodesEach));
    await eventually(async () => expect(await readyOf(at(plane, 0))).toBe("True"));
    const [first] = (await peersIn(at(plane, 1))).filter(
      ({ metadata }) => metadata.name === "my-mesh--cluster-a--cluster-a-1",
    );
    expect(first?.spec).toEqual({
      allowedIPs: ["10.1.0.0/24", "10.96.0.0/12", "10.200.0.1/32"],
      endpoint: { dnsOrIP: { ip: "198.18.0.1" }, port: 51820 },
      publicKey: expect.stringMatching(/^.{43}=$/),
    });
    expect(first?.metadata.labels).toMatchObject({
      "kilo-clustermesh.io/mesh": "my-mesh",
      "kilo-clustermesh.io/source-cluster": "cluster-a",
    });
  });

  it("gives a node that joins to all the others", async () => {
    await addNode(at(plane, 0), 0, nodesEach);
    await eventually(() => holds(plane, (number) => (number === 0 ? nodesEach + 1 : nodesEach)));
  });

  it("takes a deleted node from all the others, after the grace", async () => {
    const name = nodeNameOf(0, nodesEach);
    await at(plane, 0).requestJson({ method: "DELETE", path: `/api/v1/nodes/${name}` });
    const peer = `my-mesh--cluster-a--${name}`;
    expect(await peerNamesIn(at(plane, 1))).toContain(peer);
    await eventually(() => holds(plane, () => nodesEach), { withinMs: 45_000 });
  });

  it("writes no Peer and no definition when it starts again", async () => {
    await operator.child.stop();
    const before = await Promise.all(plane.clusters.map(async (cluster) => (await cluster.audit()).length));
    operator = await startOperator({ plane });
    await eventually(() => {
      const known = operator.log().match(/"cluster known"/g) ?? [];
      expect(known).toHaveLength(clusters);
    });
    await addNode(at(plane, 0), 0, 9);
    await eventually(async () => expect(await peerNamesIn(at(plane, 1))).toHaveLength(nodesEach * (clusters - 1) + 1));
    const since = await Promise.all(
      plane.clusters.map(async (cluster, index) => (await cluster.audit()).slice(before[index]).filter(byOperator)),
    );
    const written = since
      .flat()
      .filter(isWrite)
      .filter((entry) => !isLease(entry));
    const peerWrites = written.filter(({ resource }) => resource === "peers");
    expect(peerWrites.map(({ verb }) => verb)).toEqual(Array(clusters - 1).fill("create"));
    expect(written.filter(({ resource }) => resource === "customresourcedefinitions")).toEqual([]);
  });

  it("makes no request at all while nothing changes", async () => {
    await eventually(async () => expect(await readyOf(at(plane, 0))).toBe("True"));
    const count = async (): Promise<number[]> =>
      Promise.all(plane.clusters.map(async (cluster) => quiet(await cluster.audit())));
    const quiet = (entries: Awaited<ReturnType<RealCluster["audit"]>>): number =>
      entries.filter(byOperator).filter((entry) => !isLease(entry) && !isOpenWatch(entry)).length;
    await eventually(
      async () => {
        const before = await count();
        await new Promise((resolve) => setTimeout(resolve, 12_000));
        expect(await count()).toEqual(before);
      },
      { withinMs: 90_000 },
    );
  });
});

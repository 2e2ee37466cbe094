import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clusterName, nodeName, type PeerName, peerName } from "../../src/core/ids.ts";
import type { Mesh } from "../../src/core/mesh.ts";
import { aKey, aMesh, aNode, aView, aWorld, conn, connected, heldAs, known, planOf } from "../support/build.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const nameOf = (mesh: string, source: string, node: string): string =>
  peerName({ mesh, source: clusterName(source), node: nodeName(node) }, sha256);

describe("the name of a Peer, as the Go operator gives it", () => {
  it.each<[readonly [string, string, string], string]>([
    [["my-mesh", "cluster-a", "node-1"], "my-mesh--cluster-a--node-1"],
    [["prod", "eu-west", "ip-10-0-0-1.internal"], "prod--eu-west--ip-10-0-0-1.internal"],
    [["m", "c", "n"], "m--c--n"],
    [["my_mesh", "cluster_a", "node_1"], "my-mesh--cluster-a--node-1"],
    [["MESH", "Cluster", "Node"], "mesh--cluster--node"],
    [["-.mesh", "a", "node.-"], "mesh--a--node"],
    [["", "c", "n"], "c--n"],
    [["m", "", "n"], "m----n"],
    [["m", "c", ""], "m--c"],
    [["", "", ""], ""],
  ])("made of %j is %j", (parts, expected) => {
    expect(nameOf(...parts)).toBe(expected);
  });

  it("is for any parts the same each time, short enough, and of allowed characters with clean edges", () => {
    const part = fc.oneof(fc.string(), fc.string({ minLength: 200, maxLength: 300 }), fc.constant(""));
    fc.assert(
      fc.property(part, part, part, (mesh, source, node) => {
        const name = nameOf(mesh, source, node);
        expect(nameOf(mesh, source, node)).toBe(name);
        expect(name.length).toBeLessThanOrEqual(253);
        expect(name).toMatch(/^$|^[a-z0-9]$|^[a-z0-9][a-z0-9.-]*[a-z0-9]$/);
      }),
    );
  });

  it("differs by the cluster, also where only the hash can tell", () => {
    const long = "n".repeat(300);
    expect(nameOf("m", "a", "n")).not.toBe(nameOf("m", "b", "n"));
    expect(nameOf("m", "a", long)).not.toBe(nameOf("m", "b", long));
    expect(nameOf("m", "a", long)).toMatch(/-[0-9a-f]{16}$/);
  });
});

describe("a name that two Peers would have", () => {
  const mesh = aMesh(2);
  const named = (base: Mesh, names: readonly string[]): Mesh => ({
    ...base,
    entries: base.entries.map((entry, index) => ({ ...entry, name: clusterName(names[index] ?? entry.name) })),
  });

  it("is given once: dashes inside names make no two Peers one", () => {
    const three = named(aMesh(3), ["a", "a--b", "c3"]);
    const nodes = [aNode(1, 0, { name: nodeName("b--n") }), aNode(2, 0, { name: nodeName("n") })];
    const connections = three.entries.map(
      ({ name }, index) => [name, { state: "connected", id: conn(index + 1) }] as const,
    );
    const world = aWorld({
      views: [...nodes.map((node) => aView([node])), aView([aNode(3, 0)])],
      overrides: { meshes: [{ ...connected(three), connections: new Map(connections) }] },
    });
    const names = planOf(world, 3).peers.map(({ name }) => name);
    expect(names).toHaveLength(2);
    expect(names).toContain("my-mesh--a--b--n");
    expect(names.find((name) => /^my-mesh--a--b--n-[0-9a-f]{8}$/.test(name))).toBeDefined();
  });

  it("stays with somebody else's Peer, and the mesh is not stopped by it", () => {
    const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)])];
    const [own] = planOf(aWorld({ meshes: [mesh], views }), 2).peers;
    if (!own) throw new Error("unreachable");
    const foreign = heldAs(own, {
      instance: "",
      mesh: "",
      source: clusterName(""),
      owners: [],
      publicKey: aKey("theirs"),
      allowedIps: ["10.250.0.1/32"],
    });
    const plan = planOf(
      aWorld({ meshes: [mesh], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)], { peers: known([foreign]) })] }),
      2,
    );
    expect(plan.ours).toEqual([]);
    expect(plan.peers.map(({ name }) => name)).toEqual([
      `${own.name}-${sha256(own.publicKey).slice(0, 8)}` as PeerName,
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { type ClusterMeshObject, readMesh } from "../../src/api/cluster-mesh.ts";
import { declaredNetworks, type Mesh, overlapsWithin } from "../../src/core/mesh.ts";
import { overlapsAcross } from "../../src/core/overlap.ts";
import { aMesh, aMeshObject, connected } from "../support/build.ts";

type Entry = Record<string, unknown>;

/** A ClusterMesh over these entries; the first is local. */
function meshOf(entries: readonly Entry[], name = "my-mesh"): ClusterMeshObject {
  const clusters = entries.map((entry, index) => ({
    name: `c${index + 1}`,
    ...(index === 0 ? { local: true } : { kubeconfigSecretRef: { name: "s" } }),
    ...entry,
  }));
  return { metadata: { name, namespace: "kilo-system" }, spec: { clusters } };
}

function accepted(object: ClusterMeshObject): Mesh {
  const record = readMesh(object);
  if (record.state === "refused") throw new Error(JSON.stringify(record.problems));
  return record.mesh;
}

const problemsOf = (object: ClusterMeshObject): string[] => {
  const record = readMesh(object);
  return record.state === "refused" ? record.problems.map(({ message }) => message) : [];
};

const other = { podCIDRs: ["10.2.0.0/16"], wireguardCIDR: "10.200.2.0/24" };

describe("the networks that an entry declares", () => {
  it.each<[string, Entry, string[]]>([
    ["the flat form, one network", { allowedNetworks: ["10.0.0.0/15"] }, ["10.0.0.0/15"]],
    [
      "pods and WireGuard",
      { podCIDRs: ["10.1.0.0/16"], wireguardCIDR: "10.200.1.0/24" },
      ["10.1.0.0/16", "10.200.1.0/24"],
    ],
    [
      "all of the typed form, in two families",
      {
        podCIDRs: ["10.1.0.0/16", "fd01::/48"],
        wireguardCIDR: "10.200.1.0/24",
        serviceCIDR: "10.96.0.0/12",
        additionalCIDRs: ["192.168.8.0/24", "192.168.7.0/24"],
      },
      ["10.1.0.0/16", "fd01::/48", "10.200.1.0/24", "10.96.0.0/12", "192.168.8.0/24", "192.168.7.0/24"],
    ],
  ])("come in the order of the spec: %s", (_, entry, expected) => {
    const [first] = accepted(meshOf([entry, other])).entries;
    expect(first && declaredNetworks(first).map(({ text }) => text)).toEqual(expected);
  });

  it("of both forms at once are those of the flat one", () => {
    const [first] = accepted(meshOf([{ allowedNetworks: ["10.7.0.0/16"], podCIDRs: ["10.1.0.0/16"] }, other])).entries;
    expect(first && declaredNetworks(first).map(({ text }) => text)).toEqual(["10.7.0.0/16"]);
  });
});

describe("networks within one mesh", () => {
  it("do not overlap where there is nothing to overlap with: no entry, one, many of their own", () => {
    const mesh = aMesh(9, { serviceCIDR: "10.96.0.0/12" });
    for (const count of [0, 1, 2, 9])
      expect(overlapsWithin({ ...mesh, entries: mesh.entries.slice(0, count) })).toEqual([]);
  });

  it.each<[string, Entry, string]>([
    [
      "two clusters with one service network",
      { serviceCIDR: "10.96.0.0/12" },
      "10.96.0.0/12 of c1 overlaps 10.96.0.0/12 of c2",
    ],
    [
      "networks of one cluster in each other",
      { serviceCIDR: "10.2.7.0/24" },
      "10.2.0.0/16 of c2 overlaps 10.2.7.0/24 of c2",
    ],
    ["pods of one in those of another", { podCIDRs: ["10.0.0.0/15"] }, "10.1.0.0/16 of c1 overlaps 10.0.0.0/15 of c2"],
  ])("are refused, both named: %s", (_, entry, expected) => {
    const first = { podCIDRs: ["10.1.0.0/16"], wireguardCIDR: "10.200.1.0/24", serviceCIDR: "10.96.0.0/12" };
    expect(problemsOf(meshOf([first, { ...other, ...entry }]))).toContain(expected);
  });
});

describe("networks of meshes beside each other", () => {
  it("do not clash where there is no mesh, one mesh, or none that shares a network", () => {
    const one = connected(aMesh(2));
    const hub = { podCIDRs: ["10.1.0.0/16"], wireguardCIDR: "10.200.1.0/24" };
    const far = { podCIDRs: ["10.9.0.0/16"], wireguardCIDR: "10.200.9.0/24", name: "c9" };
    const disjoint = connected(accepted(meshOf([hub, far], "other")));
    expect(overlapsAcross([], one.mesh.id)).toEqual([]);
    expect(overlapsAcross([one], one.mesh.id)).toEqual([]);
    expect(overlapsAcross([one, disjoint], one.mesh.id)).toEqual([]);
  });
});

describe("a mesh", () => {
  it("whose name is longer than a label may be is refused with that reason", () => {
    const plain = aMeshObject(2);
    const named = (length: number) => ({ ...plain, metadata: { ...plain.metadata, name: "m".repeat(length) } });
    expect(problemsOf(named(63))).toEqual([]);
    expect(problemsOf(named(64))).toEqual(["is longer than a label may be"]);
  });
});

import { describe, expect, it } from "vitest";
import { aMeshObject } from "../../test/support/build.ts";
import { type ClusterMeshObject, readMesh } from "./cluster-mesh.ts";

const withEntry = (index: number, overrides: Record<string, unknown>): ClusterMeshObject => {
  const object = aMeshObject(2);
  const { clusters } = object.spec as { clusters: Record<string, unknown>[] };
  return {
    ...object,
    spec: { clusters: clusters.map((entry, at) => (at === index ? { ...entry, ...overrides } : entry)) },
  };
};

const problemsOf = (object: ClusterMeshObject): string[] => {
  const record = readMesh(object);
  return record.state === "refused" ? record.problems.map(({ field, message }) => `${field}: ${message}`) : [];
};

describe("a ClusterMesh", () => {
  it("of the typed form is read with its defaults", () => {
    const record = readMesh(withEntry(1, { kubeconfigSecretRef: { name: "s" } }));
    if (record.state === "refused") throw new Error(JSON.stringify(record.problems));
    expect(record.mesh.entries[0]).toMatchObject({
      name: "c1",
      reach: "local",
      wireguardPort: 51820,
      keepaliveSeconds: 0,
    });
    expect(record.mesh.entries[1]?.reach).toEqual({ name: "s", key: "kubeconfig" });
  });

  it("of both forms says which fields do not count", () => {
    const record = readMesh(
      withEntry(1, { allowedNetworks: ["10.2.0.0/16", "10.200.2.0/24"], serviceCIDR: "10.9.0.0/16" }),
    );
    if (record.state === "refused") throw new Error(JSON.stringify(record.problems));
    expect(record.mesh.entries[1]?.ignoredFields).toEqual(["podCIDRs", "wireguardCIDR", "serviceCIDR"]);
    expect(record.mesh.entries[0]).not.toHaveProperty("ignoredFields");
  });

  it("is refused with every problem at once", () => {
    const object = withEntry(1, { name: "c1", local: true, podCIDRs: ["10.2.0.0/99"], serviceCIDR: "nonsense" });
    expect(problemsOf(object)).toEqual([
      'spec.clusters[1].podCIDRs[0]: "10.2.0.0/99" is not a CIDR',
      'spec.clusters[1].serviceCIDR: "nonsense" is not a CIDR',
      "spec.clusters: two entries are named c1",
      "spec.clusters: more than one entry is local",
    ]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["an entry that leads nowhere", { kubeconfigSecretRef: undefined }, "needs local: true or a kubeconfigSecretRef"],
    ["overlapping networks", { podCIDRs: ["10.1.128.0/17"] }, "10.1.0.0/16 of c1 overlaps 10.1.128.0/17 of c2"],
    ["a port that is none", { wireguardPort: 0 }, "spec.clusters.1.wireguardPort"],
  ])("is refused for %s", (_, overrides, expected) => {
    expect(problemsOf(withEntry(1, overrides)).join()).toContain(expected);
  });
});

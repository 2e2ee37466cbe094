import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMeshObject } from "../../test/support/build.ts";
import { spoilt } from "../../test/support/spoilt.ts";
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

  it.each<[unknown, number]>([
    [undefined, 600],
    ["1h30m", 5400],
    ["0", Number.POSITIVE_INFINITY],
    ["0s", Number.POSITIVE_INFINITY],
    ["0h0m", Number.POSITIVE_INFINITY],
    ["soon", 600],
    [5, 600],
  ])("with deletionTimeout %j waits %d seconds, whatever else it says", (deletionTimeout, expected) => {
    const spec = { ...(aMeshObject(2).spec as object), deletionTimeout };
    const specs = [spec, { ...spec, clusters: [] }];
    const seconds = specs.map((each) => readMesh({ ...aMeshObject(2), spec: each }).deletionTimeoutSeconds);
    expect(seconds).toEqual([expected, expected]);
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

  it("is refused with no more than fifty problems by name, and says how many there are", () => {
    const problems = problemsOf(withEntry(1, { podCIDRs: Array.from({ length: 1500 }, () => "nonsense") }));
    expect(problems).toHaveLength(51);
    expect(problems[0]).toBe("spec: has 1500 problems, of which 50 are named");
    expect(problems[50]).toBe('spec.clusters[1].podCIDRs[49]: "nonsense" is not a CIDR');
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["an entry that leads nowhere", { kubeconfigSecretRef: undefined }, "needs local: true or a kubeconfigSecretRef"],
    ["overlapping networks", { podCIDRs: ["10.1.128.0/17"] }, "10.1.0.0/16 of c1 overlaps 10.1.128.0/17 of c2"],
    [
      "more networks than anybody has",
      { allowedNetworks: Array.from({ length: 10_001 }, (_, index) => `20.${index >> 8}.${index & 255}.0/24`) },
      "spec.clusters: 10003 networks are declared, which is more than 10000",
    ],
    ["a port that is none", { wireguardPort: 0 }, "spec.clusters.1.wireguardPort"],
  ])("is refused for %s", (_, overrides, expected) => {
    expect(problemsOf(withEntry(1, overrides)).join()).toContain(expected);
  });
});

/** What every field of a status may hold. */
const status = {
  observedGeneration: 1,
  summary: { clusters: "1/2", peers: 1, skipped: 0, links: "0/1" },
  clusters: [{ name: "c1", state: "Unknown", reason: "Unreachable", registeredPeers: 0, skippedNodes: 0, notes: [] }],
  ledger: [{ cluster: "c1" }, { cluster: "c2", kubeconfigSecretRef: { name: "c2", key: "other" } }],
  conditions: [{ type: "Ready", status: "True", reason: "R", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }],
};

const meshWith = (said: object): ClusterMeshObject => ({ ...aMeshObject(2), ...said }) as ClusterMeshObject;

describe("a ClusterMesh that another definition let be stored", () => {
  it("is read, whatever it holds: one that is not would count as gone, and its Peers with it", () => {
    const { spec } = aMeshObject(2, { serviceCIDR: "10.9.0.0/16", allowedNetworks: ["10.1.0.0/16"] });
    fc.assert(
      fc.property(spoilt(spec), spoilt(status), (someSpec, someStatus) => {
        const { id, object, ledger } = readMesh(meshWith({ spec: someSpec, status: someStatus }));
        expect(id).toBe("kilo-system/my-mesh");
        expect(ledger.every(({ cluster, reach }) => cluster !== "" && reach !== undefined)).toBe(true);
        const { conditions = [], clusters = [] } = object.status ?? {};
        expect(conditions.every(({ type, reason }) => typeof type === typeof reason)).toBe(true);
        expect(clusters.every(({ name, notes = [] }) => typeof name === "string" && Array.isArray(notes))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it("keeps of its status what has the right shape, as it is", () => {
    const read = (said: unknown) => readMesh(meshWith({ status: said })).object.status;
    expect(read(status)).toBe(status);
    expect(read({ ...status, clusters: { c1: {} }, conditions: [null] })).toEqual({
      observedGeneration: 1,
      summary: status.summary,
      ledger: status.ledger,
    });
    expect(read("nonsense")).toBeUndefined();
  });

  it("keeps the rows of its ledger that say something; nothing becomes the local cluster that is not", () => {
    const ledger = [
      ...status.ledger,
      { cluster: "c3", kubeconfigSecretRef: { name: "c3" } },
      { cluster: "c4", kubeconfigSecretRef: null },
      { cluster: "c5", kubeconfigSecretRef: "c5" },
      { cluster: 6 },
      null,
    ];
    expect(readMesh(meshWith({ status: { ledger } })).ledger).toEqual([
      { cluster: "c1", reach: "local" },
      { cluster: "c2", reach: { name: "c2", key: "other" } },
      { cluster: "c3", reach: { name: "c3", key: "kubeconfig" } },
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { type ClusterMeshObject, isMeshEdit, readMesh } from "../../src/api/cluster-mesh.ts";
import { readSecret, sameSecretData } from "../../src/api/kubeconfig-secret.ts";
import { clusterName, meshId } from "../../src/core/ids.ts";
import type { Mesh } from "../../src/core/mesh.ts";
import { Rotations } from "../../src/registry/rotations.ts";
import { type SecretState, type Wanted, wantedConnections } from "../../src/registry/wanted.ts";
import { aMesh, aMeshObject } from "../support/build.ts";

const kubeconfig = (server: string): string =>
  JSON.stringify({
    "current-context": "x",
    contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
    clusters: [{ name: "x", cluster: { server: `https://${server}.example.org:6443` } }],
    users: [{ name: "x", user: { token: "t" } }],
  });

const secretOf = (server: string, key = "kubeconfig"): SecretState => ({
  state: "known",
  data: { [key]: Buffer.from(kubeconfig(server)).toString("base64") },
});

/** A mesh in a namespace of its own. */
const meshIn = (namespace: string, mesh: Mesh = aMesh(3)): Mesh => ({
  ...mesh,
  namespace,
  id: meshId(namespace, mesh.name),
});

/** By default every Secret leads to a cluster of its own: that of its namespace and name. */
function wanted(
  meshes: readonly Mesh[],
  secret = (namespace: string, name: string) => secretOf(`${name}.${namespace}`),
): Wanted {
  const wishes = meshes.map((mesh) => ({ id: mesh.id, namespace: mesh.namespace, mesh, ledger: [] }));
  const rotations = new Rotations({ isOpen: () => false, isKnown: () => false, isConnecting: () => true });
  return wantedConnections({ wishes, secret, allow: new Set(), rotations });
}

const leads = ({ meshes }: Wanted): (readonly [string, string])[][] =>
  meshes.map(({ connections }) =>
    [...connections].map(([name, found]) => [name, found.state === "connected" ? found.id : found.reason] as const),
  );

const idsOf = (found: Wanted): string[] => leads(found).flatMap((entries) => entries.map(([, id]) => id));

describe("the connections that meshes ask for", () => {
  it("are those of all their entries in order; the local cluster needs no Secret", () => {
    const found = wanted([meshIn("one")]);
    expect(leads(found)[0]?.map(([name]) => name)).toEqual(["c1", "c2", "c3"]);
    expect(idsOf(found)[0]).toBe("local");
    expect(found.remote.size).toBe(2);
    expect([...found.remote.values()].map(({ server }) => String(server))).toEqual([
      expect.stringContaining("c2.one."),
      expect.stringContaining("c3.one."),
    ]);
  });

  it("are those of all meshes, each from its own namespace", () => {
    const found = wanted([meshIn("one"), meshIn("two")]);
    expect(found.meshes.map(({ mesh }) => mesh.namespace)).toEqual(["one", "two"]);
    expect(found.remote.size).toBe(4);
  });

  it("are two for one name that leads to two clusters, and one for two names that lead to one", () => {
    const apart = idsOf(wanted([meshIn("one", aMesh(2)), meshIn("two", aMesh(2))]));
    expect(apart[1]).not.toBe(apart[3]);
    const together = wanted([meshIn("one", aMesh(2)), meshIn("two", aMesh(2))], () => secretOf("shared"));
    expect(idsOf(together)[1]).toBe(idsOf(together)[3]);
    expect(together.remote.size).toBe(1);
  });

  it("are never borrowed: an entry without a Secret of its own leads nowhere, whoever else uses its name", () => {
    const found = wanted([meshIn("one", aMesh(2)), meshIn("two", aMesh(2))], (namespace) =>
      namespace === "one" ? secretOf("ceph") : { state: "missing" },
    );
    expect(leads(found)[1]?.[1]).toEqual(["c2", "SecretMissing"]);
  });

  it("are none where there is no mesh, or one without entries", () => {
    expect(wanted([])).toEqual({ meshes: [], ledgers: new Map(), remote: new Map() });
    expect(wanted([{ ...aMesh(2), entries: [] }]).remote.size).toBe(0);
  });

  it("are the same in any order of the entries", () => {
    const mesh = meshIn("one");
    const turned = wanted([{ ...mesh, entries: mesh.entries.toReversed() }]);
    expect([...turned.remote.keys()].sort()).toEqual([...wanted([mesh]).remote.keys()].sort());
  });

  it("are others when the spec names another key of the same Secret", () => {
    const mesh = meshIn("one", aMesh(2));
    const entries = mesh.entries.map((entry) =>
      entry.name === clusterName("c2") ? { ...entry, reach: { name: "c2", key: "other" } } : entry,
    );
    const secret = (): SecretState => {
      const [first, second] = [secretOf("first"), secretOf("second", "other")];
      if (first.state !== "known" || second.state !== "known") throw new Error("unreachable");
      return { state: "known", data: { ...first.data, ...second.data } };
    };
    expect(idsOf(wanted([{ ...mesh, entries }], secret))[1]).not.toBe(idsOf(wanted([mesh], secret))[1]);
  });
});

describe("a change of a mesh", () => {
  it("is an edit when its spec changes in any way; what we write into its status is none, but for the ledger", () => {
    const plain = aMeshObject(2);
    const before = readMesh(plain);
    const later = (metadata: object, status?: ClusterMeshObject["status"]) =>
      readMesh({ ...plain, metadata: { ...plain.metadata, ...metadata }, ...(status && { status }) });
    expect(isMeshEdit(before, later({ generation: 2, resourceVersion: "9" }))).toBe(true);
    expect(isMeshEdit(before, later({ annotations: { "reconcile-trigger": "now" } }))).toBe(true);
    expect(isMeshEdit(before, later({ resourceVersion: "9" }, { observedGeneration: 1 }))).toBe(false);
    expect(isMeshEdit(before, later({}, { ledger: [{ cluster: "c1" }] }))).toBe(true);
  });
});

describe("a Secret", () => {
  it("of which only the metadata changed is no news", () => {
    const data = { kubeconfig: "eA==" };
    const before = readSecret({ metadata: { name: "s", resourceVersion: "1" }, data });
    const after = readSecret({ metadata: { name: "s", resourceVersion: "2", annotations: { note: "x" } }, data });
    expect(sameSecretData(before, after)).toBe(true);
    expect(sameSecretData(before, { kubeconfig: "eQ==" })).toBe(false);
  });
});

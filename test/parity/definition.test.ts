import { describe, expect, it } from "vitest";
import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { clusterMeshCrd } from "../../src/api/crd.ts";
import { peers } from "../../src/api/kilo-peer.ts";
import { finalizer, labels, leaseName } from "../../src/api/names.ts";
import { apiVersionOf } from "../../src/kube/resource.ts";

describe("the API that people of the Go operator know", () => {
  it("has Kilo's group and version for ClusterMesh and Peer", () => {
    expect([clusterMeshes, peers].map(apiVersionOf)).toEqual(["kilo.squat.ai/v1alpha1", "kilo.squat.ai/v1alpha1"]);
  });

  it("is defined under the same name, with one version, one kind, and in namespaces", () => {
    expect(clusterMeshCrd()).toMatchObject({
      metadata: { name: "clustermeshes.kilo.squat.ai" },
      spec: {
        group: "kilo.squat.ai",
        scope: "Namespaced",
        names: { kind: "ClusterMesh", listKind: "ClusterMeshList", plural: "clustermeshes", singular: "clustermesh" },
        versions: [{ name: "v1alpha1", served: true, storage: true, subresources: { status: {} } }],
      },
    });
  });

  it("does not take ConfigMap's short name", () => {
    expect(clusterMeshCrd()).toMatchObject({ spec: { names: { shortNames: ["cmesh"] } } });
  });

  it("knows every field that the Go operator's definition once forgot", () => {
    const text = JSON.stringify(clusterMeshCrd());
    for (const field of ["wireguardPort", "persistentKeepalive", "allowedNetworks", "podCIDRs"])
      expect(text).toContain(`"${field}":`);
  });

  it("marks its objects with the same labels, finalizer and Lease", () => {
    expect([labels.mesh, labels.source, finalizer, leaseName]).toEqual([
      "kilo-clustermesh.io/mesh",
      "kilo-clustermesh.io/source-cluster",
      "kilo-clustermesh.io/cleanup",
      "f27237f1.squat.ai",
    ]);
  });
});

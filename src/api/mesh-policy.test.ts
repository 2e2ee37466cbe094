import { describe, expect, it } from "vitest";
import { aMeshObject } from "../../test/support/build.ts";
import { networksIn } from "../core/cidr.ts";
import { type MeshPolicy, readMesh } from "./cluster-mesh.ts";

const problemsWith = (policy: Partial<MeshPolicy>, object = aMeshObject(2)): readonly string[] => {
  const record = readMesh(object, { allowedCidrs: [], localNamespaces: new Set(), ...policy });
  return record.state === "refused" ? record.problems.map(({ message }) => message) : [];
};

describe("a mesh under --allowed-cidr", () => {
  it("is accepted when all that it declares lies inside one of the networks", () => {
    expect(problemsWith({ allowedCidrs: networksIn(["10.0.0.0/8"]) })).toEqual([]);
    expect(problemsWith({ allowedCidrs: networksIn(["10.1.0.0/16", "10.2.0.0/16", "10.200.0.0/16"]) })).toEqual([]);
  });

  it("is refused with every network that does not, in both forms", () => {
    expect(problemsWith({ allowedCidrs: networksIn(["10.1.0.0/16", "10.200.0.0/16"]) })).toEqual([
      "10.2.0.0/16 of c2 is outside --allowed-cidr",
    ]);
    const flat = aMeshObject(2, { allowedNetworks: ["10.1.0.0/16", "172.16.0.0/12"] });
    expect(problemsWith({ allowedCidrs: networksIn(["10.0.0.0/8"]) }, flat)).toEqual([
      "172.16.0.0/12 of c1 is outside --allowed-cidr",
    ]);
  });

  it("is refused where a network only overlaps an allowed one", () => {
    const wide = aMeshObject(2, { additionalCIDRs: ["192.168.0.0/16"] });
    expect(problemsWith({ allowedCidrs: networksIn(["10.0.0.0/8", "192.168.7.0/24"]) }, wide)).toEqual([
      "192.168.0.0/16 of c1 is outside --allowed-cidr",
    ]);
  });
});

describe("a mesh under --local-namespaces", () => {
  it("may name the local cluster from one of the namespaces", () => {
    expect(problemsWith({ localNamespaces: new Set(["kilo-system"]) })).toEqual([]);
  });

  it("is refused elsewhere when it does, and only then", () => {
    const localNamespaces = new Set(["team-a"]);
    expect(problemsWith({ localNamespaces })).toEqual([
      "c1 is local, which --local-namespaces does not let kilo-system say",
    ]);
    const { metadata, spec } = aMeshObject(3);
    const clusters = (spec as { clusters: readonly unknown[] }).clusters.slice(1);
    expect(problemsWith({ localNamespaces }, { metadata, spec: { clusters } })).toEqual([]);
  });
});

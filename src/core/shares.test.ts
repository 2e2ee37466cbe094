import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, planOf } from "../../test/support/build.ts";
import { networksIn } from "./cidr.ts";
import { meshId } from "./ids.ts";
import type { Mesh, MeshEntry } from "./mesh.ts";

/** A mesh of the first cluster and another one, for which it declares more. */
function meshOf(name: string, createdAt: string, { cluster, more = [] }: { cluster: string; more?: string[] }): Mesh {
  const full = aMesh(3);
  const withMore = (entry: MeshEntry): MeshEntry => {
    if (entry.name !== cluster || entry.networks.form === "flat") return entry;
    return { ...entry, networks: { ...entry.networks, clusterWide: networksIn(more) } };
  };
  const entries = full.entries.filter((entry) => ["c1", cluster].includes(entry.name)).map(withMore);
  return { ...full, id: meshId("kilo-system", name), name, createdAt, entries };
}

describe("a node that two meshes want", () => {
  it("has what the newer one adds as the newer one: a mesh between the two comes first", () => {
    const meshes = [
      meshOf("a", "2020-01-01T00:00:00Z", { cluster: "c3" }),
      meshOf("b", "2022-01-01T00:00:00Z", { cluster: "c2", more: ["10.50.0.0/16"] }),
      meshOf("c", "2024-01-01T00:00:00Z", { cluster: "c3", more: ["10.50.0.0/16"] }),
    ];
    const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)]), aView([aNode(3, 0)])];
    const { peers, refused } = planOf(aWorld({ meshes, views }), 1);
    const having = peers.filter(({ routes }) => routes.some(({ text }) => text === "10.50.0.0/16"));
    expect(having.map(({ source }) => source)).toEqual(["c2"]);
    expect(refused.map(({ claim }) => claim.route.text)).toEqual(["10.50.0.0/16"]);
  });
});

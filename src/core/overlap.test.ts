import { describe, expect, it } from "vitest";
import { aMesh, connected } from "../../test/support/build.ts";
import { meshId } from "./ids.ts";
import { overlapsAcross } from "./overlap.ts";
import type { ConnectedMesh } from "./world.ts";

const own = connected(aMesh(2));
/** Another mesh whose entries lead where the numbers say. */
const other = (leads: readonly number[]): ConnectedMesh => {
  const mesh = { ...aMesh(2, {}, "other"), id: meshId("team", "other") };
  const connections = mesh.entries.map(({ name }, index) => {
    return [
      name,
      { state: "connected", id: connected(aMesh(9)).connections.get(`c${leads[index]}` as never) },
    ] as const;
  });
  return { ...connected(mesh), connections: new Map(connections.map(([name, { id }]) => [name, id as never])) };
};

describe("networks of two meshes", () => {
  it("that mean the same clusters do not clash", () => {
    expect(overlapsAcross([own, other([1, 2])], own.mesh.id)).toEqual([]);
  });

  it("clash where a cluster would receive both, and each of the two is told", () => {
    const meshes = [own, other([1, 7])];
    expect(overlapsAcross(meshes, own.mesh.id)).toEqual([
      "10.2.0.0/16 of c2 overlaps 10.2.0.0/16 of c2 of team/other",
      "10.200.2.0/24 of c2 overlaps 10.200.2.0/24 of c2 of team/other",
    ]);
    expect(overlapsAcross(meshes, meshId("team", "other"))).toHaveLength(2);
  });

  it("do not matter where the meshes share no cluster", () => {
    expect(overlapsAcross([own, other([7, 8])], own.mesh.id)).toEqual([]);
  });
});

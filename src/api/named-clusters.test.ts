import { describe, expect, it } from "vitest";
import { aMeshObject } from "../../test/support/build.ts";
import { readMesh } from "./cluster-mesh.ts";
import { namedClusters } from "./named-clusters.ts";

const secret = (name: string) => ({ kubeconfigSecretRef: { name } });
const row = (cluster: string, name: string) => ({ cluster, reach: { name, key: "kubeconfig" } });

describe("the clusters that a spec names", () => {
  it("are those of its entries where it can be used", () => {
    const record = readMesh(aMeshObject(2));
    expect(record).toMatchObject({
      state: "valid",
      named: { sources: ["c1", "c2"], rows: [{ cluster: "c1", reach: "local" }, row("c2", "c2")] },
    });
  });

  it("are read entry by entry where it cannot: what one of them lacks costs the others nothing", () => {
    const clusters = [
      { name: "a", ...secret("sa"), allowedNetworks: ["nonsense"] },
      { name: "b" },
      { name: "Not a name", ...secret("sc") },
      "no entry",
      { name: "d", kubeconfigSecretRef: { name: 7 } },
      { name: "e", ...secret("se"), wireguardPort: "many" },
    ];
    expect(namedClusters({ clusters }, true)).toEqual({
      sources: ["a", "b", "d", "e"],
      rows: [row("a", "sa"), row("e", "se")],
    });
    expect(namedClusters(undefined, true)).toEqual({ sources: [], rows: [] });
  });

  it("are each named once, and twice where two Secrets lead to one name", () => {
    const clusters = [
      { name: "a", ...secret("one") },
      { name: "a", ...secret("one") },
      { name: "a", ...secret("two") },
    ];
    expect(namedClusters({ clusters }, true)).toEqual({ sources: ["a"], rows: [row("a", "one"), row("a", "two")] });
  });

  it("do not include the local one for a mesh that may not have it", () => {
    const spec = { clusters: [{ name: "hub", local: true }] };
    expect(namedClusters(spec, true).rows).toEqual([{ cluster: "hub", reach: "local" }]);
    expect(namedClusters(spec, false)).toEqual({ sources: ["hub"], rows: [] });
    const policy = { allowedCidrs: [], localNamespaces: new Set(["theirs"]) };
    expect(readMesh(aMeshObject(2), policy).named.rows).toEqual([row("c2", "c2")]);
  });
});

import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, conn, connected, unknown } from "../../test/support/build.ts";
import { speakFor, twinsOf } from "./twins.ts";

const { clusters } = aWorld({
  views: [aView([aNode(1, 0)]), aView([aNode(2, 0), aNode(2, 1)]), aView([aNode(2, 1)]), aView([], { nodes: unknown })],
});

describe("two connections to one cluster", () => {
  it("are found by a Node that both see, and the first speaks for both", () => {
    expect([...twinsOf(clusters)]).toEqual([[conn(3), conn(2)]]);
  });

  it("are one target: every entry leads to the one that speaks", () => {
    const [spoken] = speakFor([connected(aMesh(3))], twinsOf(clusters));
    expect([...(spoken?.connections.values() ?? [])].map((entry) => entry.state === "connected" && entry.id)).toEqual([
      conn(1),
      conn(2),
      conn(2),
    ]);
    expect([...(spoken?.spokenFor ?? [])]).toEqual([["c3", conn(3)]]);
  });

  it("are not believed where another authority vouches for one of them: UIDs anybody can copy", () => {
    const forged = new Map(clusters);
    const copy = forged.get(conn(3));
    if (!copy) throw new Error("unreachable");
    expect([...twinsOf(forged.set(conn(3), { ...copy, trust: "another ca" }))]).toEqual([]);
    const { trust: _, ...nobody } = copy;
    expect([...twinsOf(forged.set(conn(3), nobody))]).toEqual([]);
  });

  it("are spoken for by one that sees the Peers, and never by one that is leaving", () => {
    const blind = new Map(clusters);
    const first = blind.get(conn(2));
    if (!first) throw new Error("unreachable");
    expect([...twinsOf(blind.set(conn(2), { ...first, peers: unknown }))]).toEqual([[conn(2), conn(3)]]);
    expect([...twinsOf(blind, new Set([conn(3)]))]).toEqual([[conn(3), conn(2)]]);
  });

  it("are spoken for by one that may write, and where none may, by each in turn", () => {
    const forbidden = (...atMs: readonly (number | undefined)[]) => {
      const seen = new Map(clusters);
      for (const [index, forbiddenAtMs] of atMs.entries()) {
        const id = conn(index + 2);
        const view = seen.get(id);
        if (view && forbiddenAtMs !== undefined) seen.set(id, { ...view, forbiddenAtMs });
      }
      return [...twinsOf(seen)];
    };
    expect(forbidden(1)).toEqual([[conn(2), conn(3)]]);
    expect(forbidden(undefined, 1)).toEqual([[conn(3), conn(2)]]);
    expect(forbidden(1, 2)).toEqual([[conn(3), conn(2)]]);
    expect(forbidden(3, 2)).toEqual([[conn(2), conn(3)]]);
  });

  it("leave meshes as they are where there are none", () => {
    const meshes = [connected(aMesh(2))];
    expect(speakFor(meshes, new Map())).toBe(meshes);
  });
});

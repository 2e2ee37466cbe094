import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { declaredNetworks, type Mesh } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";

const mesh: Mesh = {
  ...aMesh(3),
  entries: aMesh(3).entries.map((entry) => ({
    ...entry,
    networks: { form: "flat", allowed: declaredNetworks(entry) },
  })),
};

function plan(facts: Partial<NodeFacts>, { meshes = [mesh], held = [] as readonly HeldPeer[] } = {}) {
  const views = [aView([aNode(1, 0)], { peers: known(held) }), aView([aNode(2, 0)]), aView([aNode(3, 0, facts)])];
  const resolved = new Map([["gw.test", ["10.2.0.9"]]]);
  return planOf(aWorld({ meshes, views, overrides: { resolved } }), 1);
}

const routesOf = (planned: ReturnType<typeof plan>, source: string): string[] =>
  planned.peers.filter((peer) => peer.source === source).flatMap(({ routes }) => routes.map(({ text }) => text));

describe("an address that another cluster is declared to have", () => {
  const usual = routesOf(plan({}), "c2");

  it("is no route to a node that says it is its own", () => {
    const planned = plan({ internalIps: ["10.2.0.9", "172.16.3.1"] });
    expect(routesOf(planned, "c3")).toEqual(["10.3.0.0/24", "10.200.3.1/32", "172.16.3.1/32"]);
    expect(routesOf(planned, "c2")).toEqual(usual);
  });

  it.each(["10.2.0.9:51820", "gw.test:51820"])("is no endpoint: %s keeps no route of that cluster out", (endpoint) => {
    const planned = plan({ forceEndpoint: endpoint });
    const peer = planned.peers.find(({ source }) => source === "c3");
    expect(peer).toMatchObject({ endpoint: { host: { ip: "192.0.2.1" }, port: 51820 }, keepaliveSeconds: 25 });
    expect(routesOf(planned, "c2")).toEqual(usual);
  });

  it("stays where it is on a Peer: declaring it later takes it from nobody", () => {
    const only: Mesh = { ...mesh, entries: mesh.entries.filter(({ name }) => name !== "c2") };
    const facts = { internalIps: ["10.2.0.9"], forceEndpoint: "10.2.7.7:51820" };
    const held = plan(facts, { meshes: [only] }).peers.map((peer) => heldAs(peer));
    const planned = plan(facts, { held });
    expect(routesOf(planned, "c3")).toContain("10.2.0.9/32");
    expect(planned.peers.find(({ source }) => source === "c3")?.endpoint).toMatchObject({ host: { ip: "10.2.7.7" } });
  });
});

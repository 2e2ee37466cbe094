import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import type { HeldPeer } from "./peer.ts";
import type { World } from "./world.ts";

const address = "172.31.0.1";
const node = aNode(1, 0, { internalIps: [address] });
const networks = ["10.1.0.0/16", "10.200.1.0/24"];

/** The plan of the second cluster; the first has its API server on its own node. */
function plan(allowedNetworks: readonly string[], held: readonly HeldPeer[] = [], world: Partial<World> = {}) {
  const mesh = aMesh(2, { allowedNetworks });
  const views = [aView([node]), aView([aNode(2, 0)], { peers: known(held) })];
  return planOf(aWorld({ meshes: [mesh], views, overrides: { servers: [address], ...world } }), 2);
}

const routes = ({ peers }: ReturnType<typeof plan>): string[] =>
  peers.flatMap((peer) => peer.routes.map(({ text }) => text));

describe("the address of an API server that we use", () => {
  it("is not routed into the mesh unless somebody declared it, and that is told", () => {
    const planned = plan(networks);
    expect(routes(planned)).not.toContain(`${address}/32`);
    expect(planned.notes).toMatchObject([{ reason: "ApiServerAddress", subject: `${address}/32 of ${node.name}` }]);
  });

  it("is routed when it lies in a declared network", () => {
    const planned = plan([...networks, "172.31.0.0/24"]);
    expect(routes(planned)).toContain(`${address}/32`);
    expect(planned.notes).toEqual([]);
  });

  it("stays routed where a Peer routes it already: that works, and a takeover changes nothing", () => {
    const before = plan(networks, [], { servers: [] }).peers.map((peer) => heldAs(peer));
    expect(routes(plan(networks, before))).toContain(`${address}/32`);
  });

  it("counts as well when it is a name, once that is resolved", () => {
    const resolved = new Map([["api.example.org", [address]]]);
    expect(routes(plan(networks, [], { servers: ["api.example.org"], resolved }))).not.toContain(`${address}/32`);
    expect(plan(networks, [], { servers: ["api.example.org"] }).names).toEqual(["api.example.org"]);
  });

  it("is waited for where it is a name that nobody has asked for yet: what is written once stays", () => {
    const unasked = { servers: ["api.example.org"] };
    expect(routes(plan(networks, [], unasked))).toEqual(["10.1.0.0/24", "10.200.1.1/32"]);
    expect(plan(networks, [], unasked).notes).toEqual([]);
    const held = plan(networks, [], { servers: [] }).peers.map((peer) => heldAs(peer));
    expect(routes(plan(networks, held, unasked))).toContain(`${address}/32`);
    const nowhere = { ...unasked, resolved: new Map([["api.example.org", []]]) };
    expect(routes(plan(networks, [], nowhere))).toContain(`${address}/32`);
  });
});

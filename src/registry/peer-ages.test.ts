import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, planOf } from "../../test/support/build.ts";
import type { HeldPeer } from "../core/peer.ts";
import { PeerAges } from "./peer-ages.ts";

const [peer] = planOf(aWorld({ meshes: [aMesh(2)], views: [aView([aNode(1, 0)]), aView([aNode(2, 0)])] }), 2).peers;
if (!peer) throw new Error("unreachable");
const { name } = peer;
const elsewhere = { host: { ip: "203.0.113.7" }, port: 7 };
const held = (overrides: Partial<HeldPeer> = {}) => heldAs(peer, overrides);

describe("the step of a move", () => {
  it("is as old as the first sight of its mark, whatever else is written", () => {
    const ages = new PeerAges();
    ages.changed(name, held({ move: "waiting x" }), 1000);
    ages.changed(name, held({ move: "waiting x", allowedIps: [] }), 3000);
    expect(ages.moveAgesMs(5000).get(name)).toBe(4000);
  });

  it("begins anew with another step and with another endpoint", () => {
    const ages = new PeerAges();
    ages.changed(name, held({ move: "waiting x" }), 1000);
    ages.changed(name, held({ move: "dropped x" }), 2000);
    expect(ages.moveAgesMs(2000).get(name)).toBe(0);
    ages.changed(name, held({ move: "dropped x", endpoint: elsewhere }), 3000);
    expect(ages.moveAgesMs(4000).get(name)).toBe(1000);
  });

  it("is forgotten with the mark, and with the Peer", () => {
    const ages = new PeerAges();
    ages.changed(name, held({ move: "waiting x" }), 1000);
    ages.changed(name, held(), 2000);
    expect(ages.moveAgesMs(3000).get(name)).toBeUndefined();
    ages.changed(name, held({ move: "waiting x" }), 4000);
    ages.changed(name, undefined, 5000);
    expect(ages.moveAgesMs(6000).get(name)).toBeUndefined();
  });
});

describe("an endpoint", () => {
  const met = (overrides: Partial<HeldPeer> = {}) => held({ declared: "192.0.2.9:7", ...overrides });

  it("is as old as our write that gave it; later writes make it no younger", () => {
    const ages = new PeerAges();
    ages.changed(name, met(), 500);
    expect(ages.endpointAgesMs(600).get(name)).toBeUndefined();
    ages.wrote(met(), 1000);
    ages.changed(name, met({ allowedIps: [] }), 1500);
    ages.wrote(met({ allowedIps: [] }), 2000);
    expect(ages.endpointAgesMs(4000).get(name)).toBe(3000);
  });

  it("that somebody else wrote is not ours", () => {
    const ages = new PeerAges();
    ages.wrote(met(), 1000);
    ages.changed(name, met({ endpoint: elsewhere }), 2000);
    expect(ages.endpointAgesMs(3000).get(name)).toBeUndefined();
  });
});

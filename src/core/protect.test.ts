import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { networksIn } from "./cidr.ts";
import { diffPeers } from "./diff.ts";
import { meshId } from "./ids.ts";
import { declaredNetworks, type Mesh, type MeshEntry } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";

/** A mesh of some of three clusters, with networks besides the usual ones. */
function meshOf(
  name: string,
  clusters: readonly number[],
  more: Readonly<Record<string, readonly string[]>> = {},
): Mesh {
  const full = aMesh(3);
  const withMore = (entry: MeshEntry): MeshEntry =>
    entry.networks.form === "flat"
      ? entry
      : { ...entry, networks: { ...entry.networks, clusterWide: networksIn(more[entry.name] ?? []) } };
  const entries = full.entries.filter((entry) => clusters.includes(Number(entry.name.slice(1)))).map(withMore);
  return { ...full, id: meshId("kilo-system", name), name, entries };
}

const old = { createdAt: "2020-01-01T00:00:00Z" };
const recent = { createdAt: "2025-01-01T00:00:00Z" };
const asFlat = (mesh: Mesh): Mesh => ({
  ...mesh,
  entries: mesh.entries.map((entry) => ({ ...entry, networks: { form: "flat", allowed: declaredNetworks(entry) } })),
});

interface Scene {
  readonly held?: readonly HeldPeer[];
  readonly hub?: readonly NodeFacts[];
  readonly second?: readonly NodeFacts[];
  readonly third?: readonly NodeFacts[];
}

function plan(meshes: readonly Mesh[], { held = [], hub = [aNode(1, 0)], second = [aNode(2, 0)], third }: Scene = {}) {
  const views = [aView(hub, { peers: known(held) }), aView(second), aView(third ?? [aNode(3, 0)])];
  return planOf(aWorld({ meshes, views }), 1);
}

const heldAfter = (...meshes: readonly Mesh[]): HeldPeer[] => plan(meshes).peers.map((peer) => heldAs(peer));
const routesOf = ({ peers }: ReturnType<typeof plan>, source: string): string[] =>
  peers.filter((peer) => peer.source === source).flatMap(({ routes }) => routes.map(({ text }) => text));
const heldBack = ({ refused }: ReturnType<typeof plan>): string[] => refused.map(({ claim }) => claim.route.text);

const usual = ["10.2.0.0/24", "10.200.2.1/32"];

describe("what a mesh declares for a target", () => {
  const first = { ...meshOf("first", [1, 2]), ...old };
  const greedy = { ...meshOf("greedy", [1, 3], { c1: ["10.2.0.0/16", "10.200.2.0/24"] }), ...recent };

  it.each(["newer", "older"])("takes nothing from a Peer that it shares with another mesh, be it %s", (age) => {
    const flat = asFlat(first);
    const held = heldAfter(flat);
    expect(held[0]?.allowedIps).toContain("172.16.2.1/32");
    const createdAt = age === "newer" ? recent.createdAt : "2019-01-01T00:00:00Z";
    const joining = { ...asFlat(meshOf("joining", [1, 2], { c1: ["172.16.0.0/16"] })), createdAt };
    const planned = plan([flat, joining], { held });
    expect(routesOf(planned, "c2")).toEqual([...usual, "172.16.2.1/32"]);
    expect(routesOf(plan([flat, joining]), "c2").includes("172.16.2.1/32")).toBe(age === "newer");
  });

  it.each(["newer", "older"])("takes nothing from the Peers of another mesh, be it %s", (age) => {
    const held = heldAfter(first);
    const other = age === "newer" ? greedy : { ...greedy, createdAt: "2019-01-01T00:00:00Z" };
    const planned = plan([first, other], { held });
    expect(routesOf(planned, "c2")).toEqual(usual);
    expect(diffPeers(planned).filter(({ action }) => action !== "create")).toEqual([]);
  });

  it("does not stop an older mesh from getting its first Peers there", () => {
    expect(routesOf(plan([first, greedy]), "c2")).toEqual(usual);
  });

  it("keeps a newer mesh out that has nothing there yet, which is told that the claim is held", () => {
    const declaring = { ...meshOf("declaring", [1, 2], { c1: ["10.96.0.0/12"] }), ...old };
    const late = { ...meshOf("late", [1, 3], { c3: ["10.97.0.0/16"] }), ...recent };
    const planned = plan([declaring, late]);
    expect(routesOf(planned, "c3")).toEqual(["10.3.0.0/24", "10.200.3.1/32"]);
    expect(heldBack(planned)).toEqual(["10.97.0.0/16"]);
  });

  it("keeps what the same mesh wants out, whether it is there or not", () => {
    const mesh = asFlat(meshOf("mine", [1, 2]));
    const second = [aNode(2, 0, { internalIps: ["172.16.9.9"] })];
    const held = plan([mesh], { second }).peers.map((peer) => heldAs(peer));
    const corrected = asFlat(meshOf("mine", [1, 2], { c1: ["172.16.9.0/24"] }));
    expect(held[0]?.allowedIps).toContain("172.16.9.9/32");
    expect(routesOf(plan([corrected], { second, held }), "c2")).toEqual(usual);
  });
});

describe("what is really there in a target", () => {
  const mesh = { ...meshOf("first", [1, 2]), ...old };

  it.each([
    ["a pod network", { podCidrs: ["10.2.0.0/24"] }, ["10.200.2.1/32"]],
    ["an address of Kilo", { wireguardIp: "10.200.2.1/16" }, ["10.2.0.0/24"]],
    ["an address", { internalIps: ["10.2.0.7"] }, ["10.200.2.1/32"]],
  ])("is never covered: %s of its nodes takes the route from a Peer that has it", (_, facts, left) => {
    const hub = [aNode(1, 0), aNode(1, 1, facts)];
    expect(routesOf(plan([mesh], { hub, held: heldAfter(mesh) }), "c2")).toEqual(left);
  });

  it("is never covered: a tunnel that ends there keeps a new route of another mesh out, which is told so", () => {
    const late = { ...meshOf("late", [1, 3], { c3: ["198.51.100.0/25"] }), ...recent };
    const third = [aNode(3, 0, { forceEndpoint: "203.0.113.9:51820" })];
    const planned = plan([mesh, late], { held: heldAfter(mesh), third });
    expect(routesOf(planned, "c3")).toEqual(["10.3.0.0/24", "10.200.3.1/32"]);
    expect(heldBack(planned)).toEqual(["198.51.100.0/25"]);
  });

  it.each(["169.254.0.0/16", "127.0.0.0/8", "224.0.0.0/4", "0.0.0.0/1"])(
    "is never covered: %s is every node's own, whoever declares it",
    (network) => {
      const declaring = meshOf("first", [1, 2], { c2: [network] });
      expect(routesOf(plan([declaring]), "c2")).toEqual(usual);
    },
  );
});

describe("the key of a Peer", () => {
  it("gives another mesh that comes to have it none of its routes", () => {
    const first = { ...meshOf("first", [1, 2]), ...old };
    const late = { ...meshOf("late", [1, 3], { c3: ["10.2.0.0/24"] }), ...recent };
    const heir = aNode(2, 5, { podCidrs: ["10.2.0.0/24"] });
    const thief = aNode(3, 0, { key: aNode(2, 0).key });
    const planned = plan([first, late], { held: heldAfter(first), second: [heir], third: [thief] });
    expect(routesOf(planned, "c2")).toContain("10.2.0.0/24");
    expect(routesOf(planned, "c3")).toEqual(["10.3.0.0/24", "10.200.3.1/32"]);
  });
});

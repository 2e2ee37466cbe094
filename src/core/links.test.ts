import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aKey, aMesh, aNode, aView, aWorld, conn, heldAs, known, planOf, unknown } from "../../test/support/build.ts";
import { parseDiscovered } from "./discovered.ts";
import { clusterName, type MeshId, meshId, nodeName, type PeerName } from "./ids.ts";
import { keysBehind, linksTo, presences, registeredIn } from "./links.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import { planTarget } from "./plan.ts";
import { Recall } from "./recall.ts";
import { type MeshStatusInput, meshStatus, type TargetReport } from "./status.ts";
import type { ClusterView, World } from "./world.ts";

const mesh = aMesh(3);
const numbers = [1, 2, 3] as const;
const bare = aWorld({ meshes: [mesh], views: numbers.map((number) => aView([aNode(number, 0)])) });
const [aHeld] = planOf(bare, 1).peers.map((peer) => heldAs(peer));

/** A Peer for that node, in any target. */
function held(cluster: number, node: number, owners: readonly MeshId[] = [mesh.id]): HeldPeer {
  if (!aHeld) throw new Error("unreachable");
  const name = nodeName(`c${cluster}-n${node}`);
  const source = clusterName(`c${cluster}`);
  return {
    ...aHeld,
    name: `my-mesh--${source}--${name}` as PeerName,
    source,
    node: name,
    owners,
    publicKey: aKey(name),
  };
}

const handshake = (cluster: number, node: number) =>
  parseDiscovered(JSON.stringify({ [aKey(`c${cluster}-n${node}`)]: { IP: "203.0.113.1", Port: 1 } }));

const others = [[mesh.id], [mesh.id], [meshId("other", "mesh")], [mesh.id, meshId("other", "mesh")], []];

/** What happens in cluster `at`: to its node `node`, or to the Peer there of that node of cluster `of`. */
const aStep = fc.record({
  what: fc.constantFrom(
    "join",
    "join",
    "leave",
    "strip",
    "touch",
    "put",
    "put",
    "drop",
    "owners",
    "meet",
    "lose",
    "plan",
  ),
  at: fc.nat(2),
  of: fc.nat(2),
  node: fc.nat(3),
  owners: fc.constantFrom(...others),
  leads: fc.constantFrom(1, 2, 3, 3, 3),
});
type Step = typeof aStep extends fc.Arbitrary<infer Value> ? Value : never;

/** Three clusters of which all but what changes stays the same objects, as it does where watches keep it. */
class Clusters {
  readonly views: ClusterView[] = numbers.map(() => aView([]));
  readonly reports = new Map<ReturnType<typeof conn>, TargetReport>();
  readonly recalls = numbers.map(() => new Recall());
  meshes = bare.meshes;

  world(): World {
    return { ...bare, meshes: this.meshes, clusters: new Map(this.views.map((view, at) => [conn(at + 1), view])) };
  }

  input(): MeshStatusInput {
    const [connected] = this.meshes;
    if (!connected) throw new Error("unreachable");
    return { world: this.world(), connected, reports: this.reports, ledger: [], nowMs: 0 };
  }

  take(step: Step): void {
    const { what, at, of, node, owners } = step;
    const observed = new Map(this.views[at]?.observed);
    if (what === "join") this.#putNode(at, aNode(at + 1, node));
    if (what === "strip") this.#putNode(at, aNode(at + 1, node, of === 0 ? { key: "" } : { wireguardIp: "" }));
    if (what === "touch") this.#putNode(at, aNode(at + 1, node, { forceEndpoint: `203.0.113.9:${of + 1}` }));
    if (what === "leave") this.#change(at, { nodes: known(this.#nodes(at).slice(1)) });
    if (what === "put") this.#putPeer(at, held(of + 1, node));
    if (what === "owners") this.#putPeer(at, held(of + 1, node, owners));
    if (what === "drop") this.#change(at, { peers: known(this.#peers(at).slice(1)) });
    if (what === "meet") this.#change(at, { observed: observed.set(nodeName("n"), handshake(of + 1, node)) });
    if (what === "lose") this.#lose(step);
    if (what === "plan") this.#plan(at);
  }

  /** A cluster that does not answer, or entries that lead to the same one. */
  #lose({ at, node, leads }: Step): void {
    if (node === 0) this.#change(at, { nodes: unknown });
    if (node === 1) this.#change(at, { peers: unknown });
    if (node === 2) this.#change(at, { nodes: known([]), peers: known([]) });
    const to = { state: "connected", id: conn(leads) } as const;
    this.meshes = this.meshes.map(({ connections, ...rest }) => {
      return { ...rest, connections: new Map(connections).set(clusterName("c3"), to) };
    });
  }

  #plan(at: number): void {
    const plan = planTarget(this.world(), conn(at + 1), this.recalls[at]);
    this.reports.set(conn(at + 1), { spec: bare.spec, plan, refusals: [], pending: 0 });
  }

  #putNode(at: number, node: NodeFacts): void {
    this.#change(at, { nodes: known(replaced(this.#nodes(at), node)) });
  }

  #putPeer(at: number, peer: HeldPeer): void {
    this.#change(at, { peers: known(replaced(this.#peers(at), peer)) });
  }

  #nodes(at: number): readonly NodeFacts[] {
    const nodes = this.views[at]?.nodes;
    return nodes?.state === "known" ? nodes.items : [];
  }

  #peers(at: number): readonly HeldPeer[] {
    const peers = this.views[at]?.peers;
    return peers?.state === "known" ? peers.items : [];
  }

  #change(at: number, change: Partial<ClusterView>): void {
    this.views[at] = { ...aView([]), ...this.views[at], ...change };
  }
}

function replaced<T extends { readonly name: string }>(list: readonly T[], thing: T): readonly T[] {
  const index = list.findIndex(({ name }) => name === thing.name);
  return index < 0 ? [...list, thing] : list.with(index, thing);
}

/** The same facts as other objects, of which nobody remembers anything. */
function forgotten(input: MeshStatusInput): MeshStatusInput {
  const { digest, ...world } = input.world;
  const copy = structuredClone({ ...input, world });
  return { ...copy, world: { ...copy.world, digest } };
}

describe("a status that goes on from earlier ones", () => {
  it("is the status that knows of none, whatever happened in between", () => {
    fc.assert(
      fc.property(fc.array(aStep, { minLength: 5, maxLength: 40 }), (steps) => {
        const clusters = new Clusters();
        for (const step of steps) {
          clusters.take(step);
          const input = clusters.input();
          expect(meshStatus(input)).toEqual(meshStatus(forgotten(input)));
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe("what a target shows of a mesh", () => {
  const peers = [held(2, 0), held(2, 1), held(3, 0, [])];
  const view = aView([aNode(1, 0)], { peers: known(peers), observed: new Map([[nodeName("n"), handshake(2, 0)]]) });
  const shown = (change: Partial<ClusterView> = {}) => {
    const world = { ...bare, clusters: new Map([[conn(1), { ...view, ...change }]]) };
    return world.meshes.flatMap((connected) => presences(world, connected));
  };
  it("is the same while only what is written on its Peers changes", () => {
    const written = peers.map((peer) => ({ ...peer, resourceVersion: "7" }));
    expect(shown()[0]).toBe(shown({ peers: known(written) })[0]);
  });

  it.each([
    ["a Peer comes", { peers: known([...peers, held(3, 1)]) }],
    ["a Peer goes", { peers: known(peers.slice(1)) }],
    ["a Peer has another key", { peers: known([held(2, 7), ...peers.slice(1)]) }],
    ["a Peer is the mesh's no more", { peers: known([held(2, 0, []), ...peers.slice(1)]) }],
    ["a Peer becomes the mesh's", { peers: known([...peers.slice(0, 2), held(3, 0)]) }],
    ["its nodes meet somebody", { observed: new Map([[nodeName("n"), handshake(2, 1)]]) }],
    ["its nodes are unknown", { nodes: unknown }],
  ])("is something else when %s", (_, change) => {
    expect(shown()[0]).not.toBe(shown(change)[0]);
  });

  it("counts nodes with a Peer there, and those of them that were met", () => {
    const keys = [0, 1, 2].map((node) => aKey(`c2-n${node}`));
    expect(linksTo(shown(), keys)).toEqual({ up: 1, expected: 2 });
    expect([registeredIn(shown(), keys), registeredIn([], keys)]).toEqual([2, 0]);
  });
});

describe("the keys behind an entry", () => {
  const [entry] = mesh.entries;
  if (!entry) throw new Error("unreachable");
  const nodes = [aNode(1, 0), aNode(1, 1)];

  it("are the same list while no key changes", () => {
    const moved = [aNode(1, 0), aNode(1, 1, { forceEndpoint: "203.0.113.9:1" })];
    expect(keysBehind(entry, moved)).toBe(keysBehind(entry, nodes));
    expect(keysBehind(entry, [aNode(1, 0), aNode(1, 1, { key: aKey("new") })])).toEqual([aKey("c1-n0"), aKey("new")]);
    expect(keysBehind(entry, nodes)).toEqual([aKey("c1-n0"), aKey("c1-n1")]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cidr, parseCidr, parseIp } from "../../src/core/cidr.ts";
import { diffPeers } from "../../src/core/diff.ts";
import { parseDiscovered } from "../../src/core/discovered.ts";
import { hostText } from "../../src/core/endpoint.ts";
import { meshId, nodeName } from "../../src/core/ids.ts";
import { declaredNetworks, type Mesh, type MeshEntry } from "../../src/core/mesh.ts";
import type { NodeFacts } from "../../src/core/node.ts";
import type { HeldPeer, Peer } from "../../src/core/peer.ts";
import type { KnownPlan } from "../../src/core/plan.ts";
import { rangesOf } from "../../src/core/ranges.ts";
import { aKey, aMesh, aNode, aView, aWorld, heldAs, known, planOf, unknown } from "../support/build.ts";

/** Cluster 1 is the hub of both meshes, cluster 2 is the victim's, cluster 3 the tenant's, whose nodes say anything. */
const [hub, victims, tenants] = [1, 2, 3] as const;
const hubNodes = [aNode(hub, 0), aNode(hub, 1)];
/** The second is behind a NAT, where the hub's nodes have met it. */
const victimNodes = [aNode(victims, 0), aNode(victims, 1, { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" })];
const met = parseDiscovered(JSON.stringify({ [aKey("c2-n1")]: { IP: "203.0.113.1", Port: 4500 } }));

const cidrs = (...texts: string[]): Cidr[] => texts.flatMap((text) => parseCidr(text) ?? []);
const flat = (entry: MeshEntry): MeshEntry => ({
  ...entry,
  networks: { form: "flat", allowed: declaredNetworks(entry) },
});

function meshOf(id: Mesh["id"], clusters: readonly number[], overrides: Partial<Mesh> = {}): Mesh {
  const mesh = aMesh(3);
  const [namespace = "", name = ""] = id.split("/");
  const entries = mesh.entries.filter((entry) => clusters.includes(Number(entry.name.slice(1))));
  return { ...mesh, id, namespace, name, entries, createdAt: "2024-01-01T00:00:00Z", ...overrides };
}

const victim = meshOf(meshId("kilo-system", "victim"), [hub, victims]);

/** Its name comes first wherever names decide. */
const tenantId = meshId("aaa", "tenant");
const aTenant = fc
  .record({ isFlat: fc.boolean(), createdAt: fc.constantFrom("2020-01-01T00:00:00Z", "2025-01-01T00:00:00Z") })
  .map(({ isFlat, createdAt }): Mesh => {
    const mesh = meshOf(tenantId, [hub, tenants], { createdAt });
    return isFlat ? { ...mesh, entries: mesh.entries.map(flat) } : mesh;
  });

const addresses = [
  "10.3.0.9",
  "10.2.0.9",
  "10.2.7.7",
  "10.1.0.9",
  "10.200.2.1",
  "172.16.1.1",
  "172.16.2.1",
  "192.168.3.4",
  "203.0.113.1",
];
const address = fc.oneof(fc.constantFrom(...addresses), fc.ipV4(), fc.ipV6());
const network = fc.oneof(
  fc.constantFrom("10.3.0.0/24", "10.3.9.0/24", "10.3.0.0/16", "10.2.0.0/24", "10.2.7.0/24", "10.1.0.0/24"),
  fc.constantFrom("0.0.0.0/0", "::/0", "10.0.0.0/8", "10.2.0.0/15", "10.3.0.77/24", "nonsense", ""),
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 33 })).map(([ip, prefix]) => `${ip}/${prefix}`),
);
const endpoint = fc.oneof(
  fc.constantFrom("", "198.51.100.31:51820", "198.51.100.20:51820", "172.16.1.1:51820", "10.2.0.1:1", "evil.test:7"),
  address.map((ip) => (ip.includes(":") ? `[${ip}]:51820` : `${ip}:51820`)),
  fc.string(),
);
const key = fc.oneof(
  fc.constantFrom(...["c3-n0", "c3-n1", "c2-n0", "c2-n1", "c2-n9", "c1-n0"].map(aKey)),
  fc.constantFrom("", "not a key"),
);

/** A node that claims what is its own, what is others', and nonsense. */
const aForgery: fc.Arbitrary<NodeFacts> = fc
  .record({
    name: fc.constantFrom("c3-n0", "c3-n1", "c3-n2", "c2-n0", "c1-n0").map(nodeName),
    podCidrs: fc.array(network, { maxLength: 3 }),
    wireguardIp: fc.oneof(fc.constantFrom("10.200.3.1/24", "10.200.3.2/24", "10.200.2.1/24", "10.200.1.1/32"), network),
    key,
    clustermeshEndpoint: fc.oneof(fc.constant(""), endpoint),
    forceEndpoint: endpoint,
    kiloEndpoint: endpoint,
    granularity: fc.constantFrom("full", "location", "cross", "?"),
    location: fc.constantFrom("", "here", "there"),
    externalIps: fc.array(address, { maxLength: 2 }),
    internalIps: fc.array(address, { maxLength: 3 }),
    keepalive: fc.constantFrom("", "1", "-1"),
  })
  .map((facts) => aNode(tenants, 0, { ...facts, uid: `uid-tenant-${facts.name}` }));

/** Well-formed enough to be admitted, so that forgeries do get as far as routes and keys. */
const aPlausible = aForgery.map((node) => ({
  ...node,
  podCidrs: ["10.3.0.0/24", ...node.podCidrs],
  wireguardIp: "10.200.3.1/24",
  forceEndpoint: "198.51.100.31:51820",
  clustermeshEndpoint: "",
}));

const forgeries = fc.uniqueArray(fc.oneof(aForgery, aPlausible), {
  minLength: 1,
  maxLength: 4,
  selector: ({ name }) => name,
});

interface Scene {
  readonly meshes: readonly Mesh[];
  readonly held?: readonly HeldPeer[];
  readonly theirs?: readonly NodeFacts[];
  readonly forged?: readonly NodeFacts[];
  readonly isVictimAway?: boolean;
}

function planFor(
  target: number,
  { meshes, held = [], theirs = victimNodes, forged = [], isVictimAway }: Scene,
): KnownPlan {
  const peers = known(held);
  const views = [
    aView(hubNodes, { observed: new Map([[nodeName("c1-n0"), met]]), ...(target === hub && { peers }) }),
    aView(theirs, { ...(target === victims && { peers }), ...(isVictimAway && { nodes: unknown }) }),
    aView(forged),
  ];
  const resolved = new Map([["evil.test", ["10.2.0.1", "10.2.7.1"]]]);
  return planOf(aWorld({ meshes, views, overrides: { resolved } }), target);
}

const alone = planFor(hub, { meshes: [victim] }).peers;
const stored = (peers: readonly Peer[]): HeldPeer[] =>
  peers.map((peer, index) => heldAs(peer, { uid: `u${index}`, resourceVersion: "1" }));
const visible = ({ name, publicKey, endpoint: at, routes, keepaliveSeconds, owners, mesh, source }: Peer) => ({
  name,
  publicKey,
  endpoint: `${hostText(at)}:${at.port}`,
  routes: routes.map(({ text }) => text),
  keepaliveSeconds,
  owners,
  mesh,
  source,
});
const ofVictim = (peers: readonly Peer[]) => peers.filter(({ owners }) => owners.includes(victim.id)).map(visible);

describe("a tenant's cluster whose nodes forge everything", () => {
  it("makes no Peer that covers anything but its own networks, and in the flat form its own addresses", () => {
    let covered = 0;
    fc.assert(
      fc.property(aTenant, forgeries, fc.boolean(), (tenant, forged, isLate) => {
        const { peers } = planFor(hub, { meshes: [victim, tenant], forged, held: isLate ? stored(alone) : [] });
        const entry = tenant.entries.find(({ name }) => name === "c3");
        if (!entry) throw new Error("unreachable");
        const own = entry.networks.form === "flat" ? forged.flatMap(({ internalIps }) => internalIps) : [];
        const may = rangesOf(
          declaredNetworks(entry),
          own.flatMap((text) => parseIp(text) ?? []),
        );
        const mayNot = rangesOf(cidrs("10.1.0.0/16", "10.200.1.0/24", "172.16.1.1/32", "172.16.1.2/32"));
        const others = rangesOf(cidrs("10.2.0.0/16", "10.200.2.0/24"));
        const hubKeys = hubNodes.map(({ key: own }) => own);
        expect(peers.filter(({ publicKey }) => hubKeys.includes(publicKey))).toEqual([]);
        for (const { routes, source } of peers.filter(({ owners }) => owners.includes(tenantId))) {
          expect(source).toBe("c3");
          const outside = routes.filter(
            (route) => !may.covers(route) || mayNot.touches(route) || others.touches(route),
          );
          expect(outside.map(({ text }) => text)).toEqual([]);
          covered += routes.length;
        }
      }),
      { numRuns: 500 },
    );
    expect(covered).toBeGreaterThan(100);
  });

  it("changes no Peer of another mesh", () => {
    fc.assert(
      fc.property(aTenant, forgeries, (tenant, forged) => {
        const late = planFor(hub, { meshes: [victim, tenant], forged, held: stored(alone) });
        const touched = diffPeers(late).filter((change) => "held" in change && change.held.owners.includes(victim.id));
        expect(touched).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("does not stop another mesh: its nodes still join, move and leave", () => {
    fc.assert(
      fc.property(aTenant, forgeries, (tenant, forged) => {
        const before = planFor(hub, { meshes: [victim, tenant], forged, held: stored(alone) }).peers;
        const moved = aNode(victims, 0, { forceEndpoint: "198.51.100.99:51820" });
        const theirs = [moved, aNode(victims, 7)];
        const wanted = planFor(hub, { meshes: [victim], theirs, held: stored(alone) });
        const planned = planFor(hub, { meshes: [victim, tenant], theirs, forged, held: stored(before) });
        expect(ofVictim(planned.peers)).toEqual(ofVictim(wanted.peers));
      }),
      { numRuns: 500 },
    );
  });

  it("does not take over the Peers of a cluster that cannot be reached", () => {
    fc.assert(
      fc.property(aTenant, forgeries, (tenant, forged) => {
        const scene = { meshes: [victim, tenant], forged, held: stored(alone), isVictimAway: true };
        const changes = diffPeers(planFor(hub, scene));
        const touched = changes.filter((change) => "held" in change && change.held.owners.includes(victim.id));
        expect(touched).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("is not seen at all in a cluster with which it shares no mesh", () => {
    const undisturbed = planFor(victims, { meshes: [victim] });
    fc.assert(
      fc.property(aTenant, forgeries, (tenant, forged) => {
        const planned = planFor(victims, { meshes: [victim, tenant], forged });
        expect(planned.peers.map(visible)).toEqual(undisturbed.peers.map(visible));
        expect([planned.taken, planned.refused, planned.kept]).toEqual([[], [], []]);
      }),
    );
  });
});

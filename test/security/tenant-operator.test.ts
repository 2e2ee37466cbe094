import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClusterMeshObject, clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { type NodeObject, nodes } from "../../src/api/kilo-node.ts";
import { type PeerObject, peers } from "../../src/api/kilo-peer.ts";
import { secrets } from "../../src/api/kubeconfig-secret.ts";
import { prepareDemo } from "../../src/cli/demo-mesh.ts";
import { parseCidr, parseIp } from "../../src/core/cidr.ts";
import { rangesOf } from "../../src/core/ranges.ts";
import { namespaces } from "../../src/kube/resource.ts";
import { type Fleet, fleetNode, networksOf, startFleet } from "../../src/sandbox/fleet.ts";
import type { SandboxCluster } from "../../src/sandbox/sandbox.ts";
import { eventually } from "../support/eventually.ts";
import { fastClock } from "../support/fast-clock.ts";
import { startWatched, type WatchedOperator } from "../support/watched-operator.ts";

/** The hub and the victim are a mesh; the hub and the tenant are another, in a namespace that sorts first. */
const [hub, victim, tenant] = [0, 1, 2] as const;
const victimMesh = { namespace: "kilo-system", name: "victim" };
const tenantMesh = { namespace: "aaa-tenant", name: "tenant" };

let fleet: Fleet;
let operator: WatchedOperator;

const cluster = (number: number): SandboxCluster => {
  const found = fleet.sandbox.clusters[number];
  if (!found) throw new Error(`no cluster ${number}`);
  return found;
};

beforeEach(async () => {
  const clock = fastClock(60);
  fleet = await startFleet({ clusters: 3, nodes: 2, clock });
  prepareDemo(fleet.sandbox);
  operator = await startWatched(fleet.sandbox, clock);
  cluster(hub).store.create(clusterMeshes, meshOf(victimMesh, [hub, victim]));
  await eventually(() => expect(isReady(victimMesh)).toBe(true));
});
afterEach(async () => {
  await operator.stop();
  await fleet.stop();
});

function meshOf(metadata: typeof victimMesh, members: readonly number[]): ClusterMeshObject {
  const clusters = members.map((number) => {
    const { name } = cluster(number);
    const { podCIDRs, wireguardCIDR } = networksOf(number);
    const reach = number === hub ? { local: true } : { kubeconfigSecretRef: { name: `${name}-kubeconfig` } };
    return { name, ...reach, allowedNetworks: [...podCIDRs, wireguardCIDR] };
  });
  return { apiVersion: "kilo.squat.ai/v1alpha1", kind: "ClusterMesh", metadata, spec: { clusters } };
}

function conditionOf(ref: typeof victimMesh) {
  const { status } = cluster(hub).store.get(clusterMeshes, ref);
  return status?.conditions?.find(({ type }) => type === "Ready");
}
const isReady = (ref: typeof victimMesh): boolean => conditionOf(ref)?.status === "True";

const victims = ({ metadata }: PeerObject): boolean =>
  metadata.labels?.["kilo-clustermesh.io/mesh"] === victimMesh.name;

/** What the victim's Peers are, and how often each was written. */
function victimsPeers(): string[] {
  const held = [hub, victim].flatMap((number) => cluster(number).store.list(peers).filter(victims));
  return held.map(({ metadata, spec }) => JSON.stringify([metadata.name, metadata.resourceVersion, spec])).sort();
}

const keyOf = (number: number, index: number): string => {
  const name = `${cluster(number).name}-${index + 1}`;
  return fleetNode(number, index, name).metadata.annotations?.["kilo.squat.ai/key"] ?? "";
};

/** The tenant's nodes say what is not theirs: keys, networks, addresses and endpoints of the hub and of the victim. */
function forgeries(): NodeObject[] {
  const forge = (index: number, annotations: Record<string, string>, rest: Partial<NodeObject> = {}): NodeObject => {
    const node = fleetNode(tenant, 10 + index, `forged-${index}`);
    return {
      ...node,
      ...rest,
      metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, ...annotations } },
    };
  };
  const pods = (...podCIDRs: string[]) => ({ spec: { podCIDR: podCIDRs[0] ?? "", podCIDRs } });
  const at = (...ips: string[]) => ({ status: { addresses: ips.map((address) => ({ type: "InternalIP", address })) } });
  return [
    forge(0, { "kilo.squat.ai/key": keyOf(victim, 0) }),
    forge(1, { "kilo.squat.ai/key": keyOf(hub, 0) }),
    forge(2, {}, pods("10.2.0.0/24")),
    forge(3, {}, pods("0.0.0.0/0")),
    forge(4, { "kilo.squat.ai/wireguard-ip": "10.200.1.1/24" }),
    forge(5, {}, at("10.2.7.7", "10.1.0.1", "172.20.0.1", "198.18.1.1", "192.168.77.1")),
    forge(6, { "kilo.squat.ai/force-endpoint": "10.2.7.9:51820" }),
    forge(7, { "kilo.squat.ai/clustermesh-endpoint": "172.20.0.1:51820" }),
  ];
}

describe("a tenant's cluster that forges everything, in a running operator", () => {
  it("gets nothing but its own networks, and the other mesh neither changes nor stops", async () => {
    const before = victimsPeers();
    expect(before).toHaveLength(4);
    const { store } = cluster(hub);
    store.create(namespaces, { metadata: { name: tenantMesh.namespace } });
    const data = { kubeconfig: Buffer.from(cluster(tenant).kubeconfig()).toString("base64") };
    store.create(secrets, { metadata: { namespace: tenantMesh.namespace, name: "cluster-c-kubeconfig" }, data });
    for (const node of forgeries()) cluster(tenant).store.create(nodes, node);
    store.create(clusterMeshes, meshOf(tenantMesh, [hub, tenant]));
    await eventually(() => expect(conditionOf(tenantMesh)?.reason).toBe("KeyTaken"));
    expect(victimsPeers()).toEqual(before);
    expectOwnNetworks();

    cluster(victim).store.create(nodes, fleetNode(victim, 7, "cluster-b-8"));
    await eventually(() => {
      const joined = store.list(peers).find(({ metadata }) => metadata.name === "victim--cluster-b--cluster-b-8");
      expect(joined?.spec.allowedIPs).toEqual(["10.2.7.0/24", "10.200.1.8/32", "172.20.1.8/32"]);
    });
    expect(victimsPeers().filter((peer) => !peer.includes("cluster-b-8"))).toEqual(before);
    await eventually(() => expect(isReady(victimMesh)).toBe(true));
    expectOwnNetworks();
  });
});

/** Of the tenant's Peers in the hub: their networks, and the own addresses that are nobody else's. */
function expectOwnNetworks(): void {
  const { podCIDRs, wireguardCIDR } = networksOf(tenant);
  const addresses = cluster(tenant)
    .store.list(nodes)
    .flatMap(({ status }) => (status?.addresses ?? []).map(({ address }) => address))
    .filter((address) => /^(172\.20\.2|192\.168\.77)\./.test(address));
  const own = rangesOf(
    [...podCIDRs, wireguardCIDR].flatMap((text) => parseCidr(text) ?? []),
    addresses.flatMap((text) => parseIp(text) ?? []),
  );
  const held = cluster(hub)
    .store.list(peers)
    .filter((peer) => !victims(peer));
  const routes = held.flatMap(({ spec }) => spec.allowedIPs);
  expect(routes.length).toBeGreaterThan(10);
  expect(routes.filter((text) => !parseCidr(text) || !own.covers(parseCidr(text) as never))).toEqual([]);
}

import { deepEqual, equal } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { type ClusterMeshObject, clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { type NodeObject, nodes } from "../../src/api/kilo-node.ts";
import { type PeerObject, peers } from "../../src/api/kilo-peer.ts";
import { isKubeError } from "../../src/kube/errors.ts";
import { namespaces } from "../../src/kube/resource.ts";
import { expectNoDeletion, expectPeerWrites } from "./costs.ts";
import { aKey, type Letter, type MeshFacts, type NodeFacts } from "./facts.ts";
import type { Stage } from "./stage.ts";
import { story, withoutNodeRights } from "./story.ts";
import { untilGone } from "./teardown-stories.ts";

/** What the Go operator left on real API servers: two nodes and two Peers in each of two clusters. */
type Scene = "small" | "variant";
const clusters = { a: "c1", b: "c2" } as const;

function fixture<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../fixtures/go-operator/${name}.json`, import.meta.url), "utf8")) as T;
}

const itemsOf = <T>(name: string): readonly T[] => fixture<{ items: readonly T[] }>(name).items;

function factsOf(cluster: Letter, { metadata, spec, status }: NodeObject): NodeFacts {
  const said = metadata.annotations ?? {};
  const addressOf = (type: string): string =>
    status?.addresses?.find((address) => address.type === type)?.address ?? "";
  const external = addressOf("ExternalIP") && `${addressOf("ExternalIP")}:51820`;
  return {
    cluster,
    name: metadata.name,
    podCIDR: spec?.podCIDR ?? "",
    wireguardIp: (said["kilo.squat.ai/wireguard-ip"] ?? "").replace(/\/.*/, ""),
    key: said["kilo.squat.ai/key"] ?? "",
    endpoint: said["kilo.squat.ai/clustermesh-endpoint"] ?? said["kilo.squat.ai/force-endpoint"] ?? external,
    kiloEndpoint: said["kilo.squat.ai/endpoint"] ?? "",
    internalIp: addressOf("InternalIP"),
  };
}

export async function takeOver(stage: Stage, scene: Scene): Promise<MeshFacts> {
  const mesh = await prepare(stage, scene);
  await stage.mark();
  await stage.startOperator();
  return mesh;
}

/** Puts everything in its place while no operator runs: the type is served because one has run before. */
async function prepare(stage: Stage, scene: Scene): Promise<MeshFacts> {
  await stage.startOperator();
  await stage.stopOperator();
  const { metadata, spec, status } = fixture<ClusterMeshObject>(`${scene}-clustermesh-stored`);
  const { name, namespace = "", finalizers = [] } = metadata;
  const secret = "kc-c2";
  const declared = (spec as { clusters: readonly { allowedNetworks: string[]; persistentKeepalive?: number }[] })
    .clusters;
  const entries = [
    { name: "c1", cluster: "a" as const, networks: { allowedNetworks: declared[0]?.allowedNetworks ?? [] } },
    {
      ...declared[1],
      name: "c2",
      cluster: "b" as const,
      secret,
      networks: { allowedNetworks: declared[1]?.allowedNetworks ?? [] },
    },
  ];
  const mesh: MeshFacts = { home: "a", namespace, name, entries };
  await stage
    .admin("a")
    .create(namespaces, { metadata: { name: namespace } })
    .catch(unlessThere);
  for (const letter of ["a", "b"] as const) await plant(stage, scene, letter);
  await stage.putSecret(mesh, secret, "b");
  await stage.admin("a").create(clusterMeshes, { metadata: { name, namespace, finalizers }, spec });
  await stage.admin("a").patch(clusterMeshes, { name, namespace }, { body: { status }, subresource: "status" });
  stage.assume({ meshes: [mesh] });
  return mesh;
}

async function plant(stage: Stage, scene: Scene, letter: keyof typeof clusters): Promise<void> {
  const file = `${scene}-${clusters[letter]}`;
  for (const node of itemsOf<NodeObject>(`${file}-nodes`)) {
    await stage.admin(letter).create(nodes, node);
    stage.assume({ nodes: [...stage.facts.nodes, factsOf(letter, node)] });
  }
  for (const { metadata, spec } of itemsOf<PeerObject>(`${file}-peers`)) {
    const { name, labels = {} } = metadata;
    await stage.admin(letter).create(peers, { metadata: { name, labels }, spec });
  }
}

function unlessThere(error: unknown): void {
  if (!isKubeError(error, "already-exists")) throw error;
}

/** How often the spec of each Peer was written: stamping is none of that. */
async function generations(stage: Stage): Promise<Record<string, number>> {
  const lists = await Promise.all((["a", "b"] as const).map((letter) => stage.admin(letter).list(peers)));
  const held = lists.flatMap(({ items }) => items);
  return Object.fromEntries(held.map(({ metadata }) => [metadata.name, metadata.generation ?? 0]));
}

const goLabels = (mesh: string, source: string): string =>
  `kilo-clustermesh.io/mesh=${mesh},kilo-clustermesh.io/source-cluster=${source}`;

/** What the Go operator would write into a target: it looks for Peers by its two labels and compares name and spec. */
async function writesOfGo(stage: Stage, target: Letter, wanted: readonly PeerObject[]): Promise<string[]> {
  const [source = ""] = wanted.map(({ metadata }) => metadata.labels?.["kilo-clustermesh.io/source-cluster"]);
  const { items: found } = await stage.admin(target).list(peers, { labelSelector: goLabels("takeover", source) });
  const named = (all: readonly PeerObject[], name: string) => all.find(({ metadata }) => metadata.name === name);
  const written = wanted.flatMap(({ metadata: { name }, spec }) => {
    const held = named(found, name);
    if (!held) return [`create ${name}`];
    return isDeepStrictEqual(comparedByGo(held.spec), comparedByGo(spec)) ? [] : [`update ${name}`];
  });
  const orphans = found.filter(({ metadata }) => !named(wanted, metadata.name));
  return [...written, ...orphans.map(({ metadata }) => `delete ${metadata.name}`)];
}

function comparedByGo(spec: PeerObject["spec"]): unknown {
  const { publicKey, persistentKeepalive = 0, presharedKey = "", endpoint, allowedIPs } = spec;
  return { publicKey, persistentKeepalive, presharedKey, endpoint, allowedIPs: [...allowedIPs].sort() };
}

const wayBack = [
  story("the Go operator comes back: Peers by its labels and names, nothing to write, its finalizer", async (stage) => {
    const mesh = await takeOver(stage, "small");
    await stage.synced();
    const joined = await stage.addNode("a", 3, { podCIDR: "10.11.3.0/24", wireguardIp: "10.41.0.3" });
    await stage.synced();
    await stage.stopOperator();
    const [leader] = itemsOf<PeerObject>("small-c2-peers");
    if (!leader) throw new Error("no Peer in the fixture");
    const [ip = "", port = ""] = joined.endpoint.split(":");
    const newcomer: PeerObject = {
      metadata: { ...leader.metadata, name: `takeover--c1--${joined.name}` },
      spec: {
        publicKey: joined.key,
        endpoint: { dnsOrIP: { ip }, port: Number(port) },
        allowedIPs: ["10.11.3.0/24", "10.41.0.3/32", `${joined.internalIp}/32`],
      },
    };
    deepEqual(await writesOfGo(stage, "a", itemsOf("small-c1-peers")), []);
    deepEqual(await writesOfGo(stage, "b", [...itemsOf<PeerObject>("small-c2-peers"), newcomer]), []);
    deepEqual((await stage.mesh(mesh)).metadata.finalizers, ["kilo-clustermesh.io/cleanup"]);
  }),
];

export const takeoverStories = [
  ...wayBack,

  story("the Go operator's mesh is taken over: its Peers are stamped and nothing else", async (stage) => {
    await takeOver(stage, "small");
    await stage.synced();
    await expectPeerWrites(stage, 4);
    await expectNoDeletion(stage);
    deepEqual(Object.values(await generations(stage)), [1, 1, 1, 1]);
  }),

  story(
    "the Go operator's odd Peers are taken over: only the one without an endpoint changes",
    async (stage) => {
      await takeOver(stage, "variant");
      await stage.eventually(() => stage.holds());
      await stage.settled();
      await stage.holds();
      await expectNoDeletion(stage);
      const changed = Object.entries(await generations(stage)).filter(([, generation]) => generation !== 1);
      deepEqual(changed, [["takeover--c2--c2-n0", 2]]);
      const endpoint = "198.18.1.9:51999";
      const body = { metadata: { annotations: { "kilo.squat.ai/clustermesh-endpoint": endpoint } } };
      await stage.admin("a").patch(nodes, { name: "c1-n1" }, { body });
      const moved = stage.facts.nodes.map((node) => (node.name === "c1-n1" ? { ...node, endpoint } : node));
      stage.assume({ nodes: moved });
      await stage.synced();
    },
    withoutNodeRights,
  ),

  story("the Go operator's mesh was deleted before we came: its Peers go, then the mesh", async (stage) => {
    const mesh = await prepare(stage, "small");
    await stage.deleteMesh(mesh);
    await stage.mark();
    await stage.startOperator();
    await untilGone(stage, mesh);
    await stage.holds();
    await expectPeerWrites(stage, 4);
  }),

  story(
    "the Go operator's mesh is refused and was deleted before we came: its Peers go all the same",
    async (stage) => {
      const mesh = await prepare(stage, "small");
      const { spec } = await stage.mesh(mesh);
      const { clusters: declared } = spec as { readonly clusters: readonly object[] };
      await stage.writeSpec(mesh, {
        clusters: declared.map((entry) => ({ ...entry, allowedNetworks: ["not a CIDR"] })),
      });
      await stage.deleteMesh(mesh);
      await stage.mark();
      await stage.startOperator();
      await untilGone(stage, mesh);
      await stage.holds();
      await expectPeerWrites(stage, 4);
    },
  ),

  story("an anchor Peer of the Go operator is left: it is folded into its node's", async (stage) => {
    await stage.begin();
    const labels = { "kilo-clustermesh.io/mesh": "my-mesh", "kilo-clustermesh.io/source-cluster": "cluster-a" };
    const spec = { publicKey: aKey("a cluster-a-1"), allowedIPs: ["10.101.0.0/16"] };
    await stage.admin("b").create(peers, { metadata: { name: "my-mesh--cluster-a--anchor", labels }, spec });
    await stage.eventually(async () => equal(await stage.peer("b", "my-mesh--cluster-a--anchor"), undefined));
    await stage.synced();
    await expectPeerWrites(stage, 3);
  }),

  story("a Peer of the Go operator whose mesh is nowhere goes when two lists agree", async (stage) => {
    await stage.begin();
    const labels = { "kilo-clustermesh.io/mesh": "ghost", "kilo-clustermesh.io/source-cluster": "cluster-x" };
    const spec = { publicKey: aKey("ghost"), allowedIPs: ["10.66.0.0/16"] };
    await stage.admin("b").create(peers, { metadata: { name: "ghost--cluster-x--n1", labels }, spec });
    await stage.eventually(async () => equal(await stage.peer("b", "ghost--cluster-x--n1"), undefined));
    await stage.synced();
    await expectPeerWrites(stage, 1);
  }),
];

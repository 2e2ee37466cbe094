import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { parse } from "yaml";
import { type ClusterMeshObject, clusterMeshes, readMesh } from "../../src/api/cluster-mesh.ts";
import type { CrdObject } from "../../src/api/crd.ts";
import { clusterMeshCrd, conforms, customResourceDefinitions } from "../../src/api/crd.ts";
import { type PeerObject, peers } from "../../src/api/kilo-peer.ts";
import { Informer } from "../../src/kube/informer.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { peerCrd } from "../../src/sandbox/kilo/peer-crd.ts";
import { eventually } from "../support/eventually.ts";
import { aPlace, unique } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractServer } from "./contract-server.ts";
import { refusal, refusedFields } from "./refusal.ts";

/** The spec of the quick start's ClusterMesh. */
async function quickStart(): Promise<unknown> {
  return parse(await readFile(new URL("../fixtures/quick-start.yaml", import.meta.url), "utf8")).spec;
}

const entry = (name: string) => ({ name, podCIDRs: ["10.1.0.0/16"], wireguardCIDR: "10.200.0.0/24" });

const badSpecs: readonly (readonly [title: string, spec: unknown, fields: readonly string[]])[] = [
  ["one cluster", { clusters: [entry("a")] }, ["spec.clusters"]],
  ["two clusters of one name", { clusters: [entry("a"), entry("a")] }, ["spec.clusters[1]"]],
  [
    "a cluster without pod networks",
    { clusters: [entry("a"), { ...entry("b"), podCIDRs: [] }] },
    ["spec.clusters[1].podCIDRs"],
  ],
  ["a name in capitals", { clusters: [entry("A"), entry("b")] }, ["spec.clusters[0].name"]],
  ["port 0", { clusters: [entry("a"), { ...entry("b"), wireguardPort: 0 }] }, ["spec.clusters[1].wireguardPort"]],
  ["no spec", undefined, ["spec"]],
];

/** Everything that the operator may say of a cluster. */
const fullCluster = {
  name: "a",
  state: "Known",
  reason: "Unreachable",
  message: "Do something.",
  nodes: 3,
  registeredPeers: 2,
  skippedNodes: 1,
  links: { up: 3, expected: 4 },
  credentialExpiresAt: "2030-01-01T00:00:00Z",
  skipped: [{ reason: "NodeNoPublicKey", count: 1, examples: ["n1"] }],
  notes: [{ reason: "BothForms", count: 1, examples: [] }],
};

const peerSpec = {
  allowedIPs: ["10.2.0.0/24", "10.200.1.1/32"],
  publicKey: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
  endpoint: { dnsOrIP: { ip: "203.0.113.7" }, port: 51820 },
  persistentKeepalive: 10,
};

async function createMesh(server: ContractServer, spec: unknown): Promise<ClusterMeshObject> {
  await server.kind(clusterMeshCrd());
  return server.client.create(clusterMeshes, { metadata: await aPlace(server), ...(spec !== undefined && { spec }) });
}

async function stored(server: ContractServer, definition: CrdObject): Promise<boolean> {
  await server.kind(definition);
  const live = await server.client.get(customResourceDefinitions, definition.metadata);
  return conforms(live.spec, definition.spec);
}

export const meshCases: readonly ContractCase[] = [
  {
    title: "the definition of ClusterMesh is accepted, and what is stored conforms to it",
    run: async (server) => expect(await stored(server, clusterMeshCrd())).toBe(true),
  },
  {
    title: "the definition of Kilo's Peer is accepted, and what is stored conforms to it",
    run: async (server) => expect(await stored(server, peerCrd())).toBe(true),
  },
  {
    title: "the ClusterMesh of the quick start is stored as it is and read as valid",
    run: async (server) => {
      const spec = await quickStart();
      const mesh = await createMesh(server, spec);
      expect(mesh.spec).toEqual(spec);
      expect(mesh.metadata.generation).toBe(1);
      expect(readMesh(mesh).state).toBe("valid");
    },
  },
  {
    title: "a ClusterMesh gets the default port and the default key",
    run: async (server) => {
      const clusters = [
        { ...entry("a"), local: true },
        { ...entry("b"), kubeconfigSecretRef: { name: "secret" } },
      ];
      const mesh = await createMesh(server, { clusters });
      expect(mesh.spec).toEqual({
        clusters: [
          { ...entry("a"), local: true, wireguardPort: 51820 },
          { ...entry("b"), kubeconfigSecretRef: { name: "secret", key: "kubeconfig" }, wireguardPort: 51820 },
        ],
      });
    },
  },
  ...badSpecs.map(([title, spec, fields]) => ({
    title: `a ClusterMesh with ${title} is refused, and the field is named`,
    run: async (server: ContractServer) => {
      expect(await refusedFields(createMesh(server, spec))).toEqual(fields);
    },
  })),
  {
    title: "the status of a ClusterMesh is written beside its spec and shown in its columns",
    run: async (server) => {
      const mesh = await createMesh(server, await quickStart());
      const condition = {
        type: "Ready",
        status: "True",
        reason: "AllGood",
        message: "",
        lastTransitionTime: "2024-02-29T12:00:00Z",
      };
      const summary = { clusters: "2/2", peers: 4, skipped: 1, links: "3/4" };
      const body = { status: { observedGeneration: 1, summary, clusters: [fullCluster], conditions: [condition] } };
      const written = await server.client.patch(clusterMeshes, mesh.metadata, { subresource: "status", body });
      expect([written.spec, written.status]).toEqual([mesh.spec, body.status]);
      const path = `/apis/kilo.squat.ai/v1alpha1/namespaces/${mesh.metadata.namespace}/clustermeshes`;
      const table = (await server.raw({ path, accept: "application/json;as=Table;v=v1;g=meta.k8s.io" })).body as {
        columnDefinitions: { name: string }[];
        rows: { cells: unknown[] }[];
      };
      const names = table.columnDefinitions.map(({ name }) => name);
      expect(names).toEqual(["Name", "Ready", "Clusters", "Peers", "Skipped", "Links", "Reason", "Age"]);
      expect(table.rows[0]?.cells.slice(0, 7)).toEqual([mesh.metadata.name, "True", "2/2", 4, 1, "3/4", "AllGood"]);
    },
  },
  {
    title: "a status that an earlier operator wrote stands in no one's way: the mesh can lose its finalizer",
    run: async (server) => {
      const mesh = await createMesh(server, await quickStart());
      const finalizers = ["kilo-clustermesh.io/cleanup"];
      await server.client.patch(clusterMeshes, mesh.metadata, { body: { metadata: { finalizers } } });
      const clusters = [{ name: "a", registeredPeers: 1, skippedNodes: 0 }];
      const status = { summary: { clusters: "1/2", peers: 1, skipped: 0 }, clusters };
      await server.client.patch(clusterMeshes, mesh.metadata, { subresource: "status", body: { status } });
      const body = { metadata: { finalizers: null } };
      const freed = await server.client.patch(clusterMeshes, mesh.metadata, { body });
      expect([freed.metadata.finalizers ?? [], freed.status]).toEqual([[], status]);
    },
  },
  {
    title: "a Peer is stored as it is, without a version it cannot be replaced, and it has no status",
    run: async (server) => {
      await server.kind(peerCrd());
      const metadata = { name: unique("peer") };
      const peer = await server.client.create(peers, { metadata, spec: peerSpec });
      expect([peer.spec, peer.metadata.generation]).toEqual([peerSpec, 1]);
      expect(await refusedFields(server.client.replace(peers, { metadata, spec: peerSpec }))).toEqual([
        "metadata.resourceVersion",
      ]);
      const status = server.client.patch(peers, metadata, { subresource: "status", body: {} });
      expect((await refusal(status)).kind).toBe("not-found");
    },
  },
  {
    title: "a Peer without a key, or with an endpoint without a port, is refused, and the field is named",
    run: async (server) => {
      await server.kind(peerCrd());
      const create = (spec: unknown) =>
        server.client.create(peers, { metadata: { name: unique("peer") }, spec: spec as PeerObject["spec"] });
      expect(await refusedFields(create({ allowedIPs: [] }))).toEqual(["spec.publicKey"]);
      const endpoint = { dnsOrIP: { ip: "203.0.113.7" } };
      expect(await refusedFields(create({ ...peerSpec, endpoint }))).toEqual(["spec.endpoint.port"]);
    },
  },
  {
    title: "our informer follows Peers through creation, change and deletion",
    run: async (server) => {
      await server.kind(peerCrd());
      const mark = unique("mesh");
      const informer = new Informer({
        client: server.client,
        resource: peers,
        labelSelector: `mark=${mark}`,
        decode: ({ spec }) => spec.allowedIPs.join(),
        same: (before, after) => before === after,
        clock: systemClock,
        log: silentLogger,
      });
      informer.start();
      try {
        const metadata = { name: unique("peer"), labels: { mark } };
        const key = metadata.name;
        await eventually(() => expect(informer.knowledge.state).toBe("known"));
        await server.client.create(peers, { metadata, spec: peerSpec });
        await eventually(() => expect(informer.get(key)).toBe("10.2.0.0/24,10.200.1.1/32"));
        await server.client.patch(peers, metadata, { body: { spec: { allowedIPs: ["10.3.0.0/24"] } } });
        await eventually(() => expect(informer.get(key)).toBe("10.3.0.0/24"));
        await server.client.delete(peers, metadata);
        await eventually(() => expect(informer.get(key)).toBeUndefined());
        expect([informer.size, informer.listCount]).toEqual([0, 1]);
      } finally {
        await informer.stop();
      }
    },
  },
];

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { nodes } from "../../src/api/kilo-node.ts";
import { peers } from "../../src/api/kilo-peer.ts";
import { secrets } from "../../src/api/kubeconfig-secret.ts";
import { prepareDemo } from "../../src/cli/demo-mesh.ts";
import { type Fleet, fleetNode, networksOf, startFleet } from "../../src/sandbox/fleet.ts";
import type { SandboxCluster } from "../../src/sandbox/sandbox.ts";
import { aKey } from "../support/build.ts";
import { type EchoCluster, startEchoCluster } from "../support/echo-cluster.ts";
import { eventually } from "../support/eventually.ts";
import { fastClock } from "../support/fast-clock.ts";
import { leaksIn, type Outputs } from "../support/leak-search.ts";
import { makeCertificates, type TestCertificates } from "../support/test-certificates.ts";
import { startWatched, type WatchedOperator } from "../support/watched-operator.ts";

/** Harmless, and in everything that the operator says of its mesh: what is searched is there to be found. */
const marker = "harmless-marker";
const meshRef = { namespace: "kilo-system", name: marker };

const planted = {
  token: "planted-token-of-cluster-b",
  brokenToken: "planted-token-in-broken-yaml",
  password: "planted-basic-password",
  userinfo: "planted-password-in-the-address",
  exec: "planted-variable-of-a-program",
  provider: "planted-refresh-token",
  proxy: "planted-password-of-a-proxy",
  brokenKey: "planted-text-instead-of-a-key",
  spaced: "planted token with spaces in it",
  echoed: "planted-token-of-the-server-that-quotes",
  nodeKey: "planted-private-key-on-a-node",
  nodeEndpoint: "planted-password-in-an-endpoint",
  nodeAddress: "planted-text-instead-of-an-address",
  observed: "planted-text-in-discovered-endpoints",
  presharedKey: aKey("preshared, ours"),
  foreignPresharedKey: aKey("preshared, of somebody else"),
};

let fleet: Fleet;
let echo: EchoCluster;
let certificates: TestCertificates;
let operator: WatchedOperator;

const cluster = (number: number): SandboxCluster => {
  const found = fleet.sandbox.clusters[number];
  if (!found) throw new Error(`no cluster ${number}`);
  return found;
};

beforeAll(async () => {
  const clock = fastClock(60);
  certificates = await makeCertificates();
  fleet = await startFleet({ clusters: 3, nodes: 2, clock });
  prepareDemo(fleet.sandbox);
  echo = await startEchoCluster({ certificates, nodes: hostileNodes(), peers: [foreignPeer()] });
  cluster(1).addToken(planted.token);
  putKubeconfig("cluster-b", cluster(1).kubeconfig({ token: planted.token }));
  putKubeconfig("cluster-d", echo.kubeconfig(planted.echoed));
  cluster(1).store.create(peers, foreignPeer());
  operator = await startWatched(fleet.sandbox, clock, { allow: new Set(["loopback", "proxy"]) });
  cluster(0).store.create(clusterMeshes, mesh());
  await eventually(() => expect(cluster(1).store.list(peers)).toHaveLength(5));
});
afterAll(async () => {
  await operator?.stop();
  await echo?.close();
  await fleet?.stop();
});

function mesh() {
  const clusters = ["cluster-a", "cluster-b", "cluster-c", "cluster-d"].map((name, number) => ({
    name,
    ...(number === 0 ? { local: true } : { kubeconfigSecretRef: { name: `${name}-kubeconfig`, key: "kubeconfig" } }),
    ...networksOf(number),
  }));
  return { apiVersion: "kilo.squat.ai/v1alpha1", kind: "ClusterMesh", metadata: meshRef, spec: { clusters } };
}

/** Nodes whose annotations hold what somebody put into the wrong place. */
function hostileNodes() {
  const texts: Record<string, string>[] = [
    { "kilo.squat.ai/key": planted.nodeKey },
    { "kilo.squat.ai/clustermesh-endpoint": `admin:${planted.nodeEndpoint}@198.51.100.1:51820` },
    { "kilo.squat.ai/wireguard-ip": planted.nodeAddress },
    { "kilo.squat.ai/discovered-endpoints": JSON.stringify({ [planted.observed]: { IP: "192.0.2.7", Port: 1 } }) },
  ];
  return texts.map((annotations, index) => {
    const node = fleetNode(3, index, `cluster-d-${index + 1}`);
    return { ...node, metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, ...annotations } } };
  });
}

/** Somebody else's Peer with the key of a node that the mesh wants there. */
function foreignPeer() {
  const key = fleetNode(2, 0, "cluster-c-1").metadata.annotations?.["kilo.squat.ai/key"] ?? "";
  const spec = { publicKey: key, allowedIPs: ["10.66.0.0/24"], presharedKey: planted.foreignPresharedKey };
  return { metadata: { name: "foreign" }, spec };
}

function putKubeconfig(name: string, text: string): void {
  const data = { kubeconfig: Buffer.from(text).toString("base64") };
  const ref = { namespace: meshRef.namespace, name: `${name}-kubeconfig` };
  if (cluster(0).store.find(secrets, ref)) cluster(0).store.patch(secrets, ref, { data });
  else cluster(0).store.create(secrets, { metadata: ref, data });
}

interface Kubeconfig {
  clusters: [{ cluster: Record<string, unknown> }];
  users: [{ user: Record<string, unknown> }];
}

/** The kubeconfig of cluster-c, changed. */
function kubeconfig(change: (parts: Kubeconfig) => void): string {
  const parts = JSON.parse(cluster(2).kubeconfig()) as Kubeconfig;
  change(parts);
  return JSON.stringify(parts);
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const pem = (text: string): string => `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`;
const withUser = (user: Record<string, unknown>) => () =>
  kubeconfig((parts) => {
    parts.users[0].user = user;
  });
const withServer = (change: (server: string) => Record<string, unknown>) => () =>
  kubeconfig(({ clusters: [{ cluster: there }] }) => Object.assign(there, change(String(there.server))));

/** Each with what the mesh says of it: the proof that it was read. */
const kubeconfigs: readonly (readonly [string, () => string, string])[] = [
  ["broken YAML", () => `users:\n- user: {token: ${planted.brokenToken}\n  name: [`, "line 3"],
  ["an alias", () => `a: &x ${planted.brokenToken}\nb: *x`, "YAML a"],
  ["a key twice", () => `token: ${planted.brokenToken}\ntoken: ${planted.brokenToken}`, "same key twice"],
  ["text alone", () => planted.brokenToken, "KubeconfigInvalid"],
  ["a password", withUser({ username: "admin", password: planted.password }), "password: basic authentication"],
  ["a program", withUser({ exec: { command: "get", env: [{ name: "T", value: planted.exec }] } }), "runs a program"],
  ["a provider", withUser({ "auth-provider": { config: { refresh: planted.provider } } }), "auth-provider"],
  ["a token with spaces", withUser({ token: planted.spaced }), "no token has"],
  ["a key that is none", withUser({ "client-key-data": base64(pem(planted.brokenKey)) }), "client-key-data"],
  ["a key that is not base64", withUser({ "client-key-data": `*${planted.brokenKey}` }), "is not base64"],
  [
    "a password in the address",
    withServer((server) => ({ server: server.replace("://", `://admin:${planted.userinfo}@`) })),
    "user name or password",
  ],
  [
    "a password for a proxy that is not there",
    withServer(() => ({ "proxy-url": `http://admin:${planted.proxy}@127.0.0.1:1` })),
    "Unreachable",
  ],
  [
    "a client certificate that the server does not know",
    () =>
      withUser({
        "client-certificate-data": base64(certificates.client.certPem),
        "client-key-data": base64(certificates.client.keyPem),
      })(),
    "Forbidden",
  ],
];

const stored = () => cluster(0).store.get(clusterMeshes, meshRef);
const said = (): string => JSON.stringify(stored().status ?? {});

describe("planted tokens and keys", () => {
  it("are told to nobody when a server quotes the token in its refusals and errors", async () => {
    await eventually(() => expect(said()).toContain("cluster-d: create"));
    const failed = operator.lines.filter(({ message }) => message === "list or watch failed");
    expect(JSON.stringify(failed)).toContain("HTTP 500, the watch reported an error");
    await expectNoLeak();
  });

  it("are told to nobody when a node has them in its annotations", async () => {
    await eventually(() => expect(said()).toContain("NodeKeyInvalid"));
    for (const reason of ["NodeEndpointInvalid", "WGIPInvalid"]) expect(said()).toContain(reason);
    await expectNoLeak();
  });

  it.each(kubeconfigs)("are told to nobody when a kubeconfig has %s", async (_, text, expected) => {
    putKubeconfig("cluster-c", text());
    await eventually(() => expect(said()).toContain(expected));
    await expectNoLeak();
  });

  it("stay on their Peer, and are told to nobody, when they are preshared keys", async () => {
    const ref = { name: `${marker}--cluster-a--cluster-a-1` };
    cluster(1).store.patch(peers, ref, { spec: { presharedKey: planted.presharedKey } });
    const annotations = { "kilo.squat.ai/force-endpoint": "198.18.0.99:51820" };
    cluster(0).store.patch(nodes, { name: "cluster-a-1" }, { metadata: { annotations } });
    await eventually(() =>
      expect(cluster(1).store.get(peers, ref).spec).toMatchObject({
        presharedKey: planted.presharedKey,
        endpoint: { dnsOrIP: { ip: "198.18.0.99" } },
      }),
    );
    const isTold = ({ message, fields }: (typeof operator.lines)[number]): boolean =>
      message === "peer written" && fields.peer === ref.name && fields.action !== "create";
    await eventually(() => expect(operator.lines.some(isTold)).toBe(true));
    expect(cluster(1).store.get(peers, { name: "foreign" }).spec.presharedKey).toBe(planted.foreignPresharedKey);
    await expectNoLeak();
  });

  it("are told to nobody when a token is refused", async () => {
    cluster(1).revokeToken(planted.token);
    cluster(1).cutWatches();
    await eventually(() => expect(said()).toContain("Unauthorized"));
    await expectNoLeak();
  });
});

async function expectNoLeak(): Promise<void> {
  const outputs = await operator.outputs();
  expectSearchable(outputs);
  const keyLines = certificates.client.keyPem.split("\n").filter((line) => !line.startsWith("-") && line.length > 20);
  const admins = fleet.sandbox.clusters.map(({ name, adminToken }) => [`admin token of ${name}`, adminToken]);
  const keys = keyLines.map((line, index) => [`client key, line ${index}`, line]);
  expect(leaksIn(outputs, { ...planted, ...Object.fromEntries([...admins, ...keys]) })).toEqual([]);
}

/** An empty output would hold no secret either. */
function expectSearchable({ readyz = "", healthz = "", leases: _, ...outputs }: Outputs): void {
  const marked = Object.keys(outputs).filter((place) => outputs[place]?.includes(marker));
  expect(marked.sort()).toEqual(["events", "log", "meshes", "metrics", "peers"]);
  expect(`${readyz}${healthz}`).toContain("leading");
}

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClusterMeshObject, clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { secrets } from "../../src/api/kubeconfig-secret.ts";
import { namespaces } from "../../src/kube/resource.ts";
import { type Sandbox, type SandboxCluster, startSandbox } from "../../src/sandbox/sandbox.ts";
import { eventually } from "../support/eventually.ts";
import { fastClock } from "../support/fast-clock.ts";
import { startWatched, type WatchedOperator } from "../support/watched-operator.ts";

const [ours, theirs] = ["tenant", "kilo-system"];
const secret = "cluster-b-kubeconfig";

let sandbox: Sandbox;
let home: SandboxCluster;
let operator: WatchedOperator;

beforeEach(async () => {
  sandbox = await startSandbox({ clusters: ["cluster-a", "cluster-b"] });
  home = sandbox.cluster("cluster-a");
  for (const name of [ours, theirs]) home.store.create(namespaces, { metadata: { name } });
  const data = { kubeconfig: Buffer.from(sandbox.cluster("cluster-b").kubeconfig()).toString("base64") };
  home.store.create(secrets, { metadata: { namespace: theirs, name: secret }, data });
  operator = await startWatched(sandbox, fastClock(60));
});
afterEach(async () => {
  await operator.stop();
  await sandbox.stop();
});

/** A mesh in the tenant's namespace that asks for a cluster through a Secret called so. */
function meshAsking(name: string, kubeconfigSecretRef: object): ClusterMeshObject {
  const entry = (letter: string, number: number) => ({
    name: `cluster-${letter}`,
    podCIDRs: [`10.${number}.0.0/16`],
    wireguardCIDR: `10.200.${number}.0/24`,
  });
  const clusters = [
    { ...entry("a", 1), local: true },
    { ...entry("b", 2), kubeconfigSecretRef },
  ];
  return { metadata: { namespace: ours, name }, spec: { clusters } };
}

const names: readonly string[] = [
  secret,
  `${theirs}/${secret}`,
  `../${theirs}/${secret}`,
  `../../namespaces/${theirs}/secrets/${secret}`,
  `..%2F${theirs}%2F${secret}`,
  `${theirs}.${secret}`,
  `${secret}.${theirs}`,
  `${secret},metadata.namespace=${theirs}`,
  `${secret}&fieldSelector=metadata.name=${secret}`,
  `x,metadata.name!=x`,
  "..",
  ".",
];

const said = (name: string): string =>
  JSON.stringify(home.store.get(clusterMeshes, { namespace: ours, name }).status ?? {});
/** What was asked for from when on, in the words of RBAC. */
const askedIn = (namespace: string): number =>
  home.requests.all().filter((request) => request.resource === "secrets" && request.namespace === namespace).length;

describe("a ClusterMesh", () => {
  it.each(names)("gets nothing of another namespace's Secret by the name %j", async (name) => {
    home.store.create(clusterMeshes, meshAsking("asking", { name }));
    await eventually(() => expect(said("asking")).toMatch(/SecretMissing/));
    expect(sandbox.cluster("cluster-b").requests.count()).toBe(0);
    const elsewhere = home.requests
      .all()
      .filter(({ resource, namespace }) => resource === "secrets" && namespace !== ours);
    expect(elsewhere).toEqual([]);
  });

  it("gets nothing by naming a namespace beside the Secret", async () => {
    home.store.create(clusterMeshes, meshAsking("asking", { name: secret, namespace: theirs }));
    await eventually(() => expect(said("asking")).toContain("SecretMissing"));
    expect([sandbox.cluster("cluster-b").requests.count(), askedIn(theirs)]).toEqual([0, 0]);
  });

  it("gets the Secret of its own namespace, so that the ones above do show something", async () => {
    const { data } = home.store.get(secrets, { namespace: theirs, name: secret });
    home.store.create(secrets, { metadata: { namespace: ours, name: secret }, ...(data && { data }) });
    home.store.create(clusterMeshes, meshAsking("asking", { name: secret }));
    await eventually(() => expect(sandbox.cluster("cluster-b").requests.count()).toBeGreaterThan(0));
    expect(askedIn(ours)).toBeGreaterThan(0);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type DiscoveryConfig, parseSharedKey } from "../../src/mesh-node/config/config.ts";
import { startKubernetesDiscovery } from "../../src/mesh-node/discovery/discover-kubernetes.ts";
import type { Discovery } from "../../src/mesh-node/discovery/member.ts";
import { deriveEndpointId } from "../../src/mesh-node/identity.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { freeUdpPort } from "../../test/mesh-node/free-udp-port.ts";
import type { NodeProcess } from "../../test/mesh-node/node-process.ts";
import { envOf } from "../../test/support/discovering.ts";
import { eventually } from "../../test/support/eventually.ts";
import { fieldLogger } from "../../test/support/field-logger.ts";
import { configOf, guideBlocks } from "../../test/support/mesh-node-manifests.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { freePort } from "../control-plane/free-port.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { ask } from "../control-plane/request.ts";
import type { PolicyRule } from "../control-plane/scoped-access.ts";
import { type Reader, reader } from "./guide.ts";
import { addPod, addWorker, runContainer, runProbe, tokenOf } from "./mesh-node-pod.ts";
import { nodeIn } from "./mesh-node-render.ts";
import type { Rendered } from "./render.ts";

const [install, scale] = guideBlocks("sh");
const names = ["mesh-node-a", "mesh-node-b", "mesh-node-c"];
const slicesPath = "/apis/discovery.k8s.io/v1/namespaces/mesh/endpointslices";
const rolePath = "/apis/rbac.authorization.k8s.io/v1/namespaces/mesh/roles/mesh-node";
const account = "system:serviceaccount:mesh:mesh-node";

let plane: ControlPlane;
let cluster: RealCluster;
let person: Reader;
let udpPort: number;

beforeAll(async () => {
  plane = await startControlPlane({ clusters: 1, controllerManager: true, audit: true });
  [cluster] = plane.clusters as [RealCluster];
  person = reader(plane.directory, cluster, cluster);
  udpPort = await freeUdpPort();
  await addWorker(cluster);
}, 120_000);
afterAll(() => plane?.stop());

async function deployment(): Promise<Rendered> {
  const found = await cluster.requestJson<Rendered>({ path: "/apis/apps/v1/namespaces/mesh/deployments/mesh-node" });
  return { ...found, kind: "Deployment" };
}

const ofTheNodes = async () => (await cluster.audit()).filter(({ user }) => user === account);

it("the guide installs nodes that find each other, and scales them", async () => {
  const said = await person.types(install);
  expect(said).toContain("STATUS: deployed");
  expect(said).toContain("kubectl --namespace mesh rollout status deployment/mesh-node");
  expect(said).toContain("kubectl --namespace mesh create secret generic mesh-node --from-literal=shared-key=");
  expect((await deployment()).spec?.replicas).toBe(3);
  // Several nodes on one machine: each needs an address and ports that are free.
  const listen = `tcp://127.0.0.1:${await freePort("127.0.0.1")}`;
  const settings = `listen=${listen},irohUdpPort=${udpPort},extraArgs={--iroh-udp-host=127.0.0.1},service.enabled=false`;
  await person.types(`${scale?.trimEnd()} --set '${settings}'`);
  expect((await deployment()).spec?.replicas).toBe(5);
  for (const [index, name] of names.entries())
    await addPod(cluster, await deployment(), { namespace: "mesh", name, ip: `10.44.0.1${index}` });
});

it("a Service of the API beside it has EndpointSlices too, and discovery selects none of them", async () => {
  await person.types(`helm upgrade mesh-node charts/mesh-node --namespace mesh --reset-then-reuse-values \\
    --set listen=tcp://0.0.0.0:50051 --set service.enabled=true`);
  const servicesOf = async (query: string): Promise<string[]> => {
    type Slices = { items: { metadata: { labels: Record<string, string> }; endpoints: unknown[] | null }[] };
    const { items } = await cluster.requestJson<Slices>({ path: `${slicesPath}${query}` });
    const full = items.filter(({ endpoints }) => endpoints?.length === names.length);
    return full.map(({ metadata }) => metadata.labels["kubernetes.io/service-name"] ?? "").sort();
  };
  await eventually(async () => expect(await servicesOf("")).toEqual(["mesh-node", "mesh-node-api"]));
  expect(await servicesOf("?labelSelector=app%3Dpeat-node")).toEqual(["mesh-node"]);
  await person.types("helm rollback mesh-node --namespace mesh");
});

/** Runs the release's container as one of its pods. */
async function run(name: string): Promise<NodeProcess> {
  const container = nodeIn([await deployment()]);
  const secret = ["mesh-node", "shared-key"] as const;
  return runContainer(cluster, plane.directory, { namespace: "mesh", name, container, account: "mesh-node", secret });
}

it("a node that shall publish its id has the right to, and writes it to its EndpointSlice", async () => {
  await person.types(
    "helm upgrade mesh-node charts/mesh-node --namespace mesh --reset-then-reuse-values --set discovery.publish=true",
  );
  const node = await run("mesh-node-b");
  try {
    await eventually(async () => {
      type Slices = { items: { metadata: { annotations?: Record<string, string> } }[] };
      const { items } = await cluster.requestJson<Slices>({ path: slicesPath });
      const annotations = items.map(({ metadata }) => metadata.annotations?.["peat.endpoint_id.mesh-node-b"]);
      expect(annotations).toEqual([node.endpointId]);
    });
    expect((await ofTheNodes()).filter(({ verb, code }) => verb === "patch" && code === 200)).not.toEqual([]);
  } finally {
    await node.end("SIGTERM");
  }
  await person.types("helm rollback mesh-node --namespace mesh");
});

describe("a node with the arguments, the ServiceAccount and the Secret of the release", () => {
  let node: NodeProcess;

  beforeAll(async () => {
    node = await run("mesh-node-a");
  });
  afterAll(() => node?.end("SIGKILL"));

  it("sees exactly the other pods, at their UDP port and with the ids that they will have", async () => {
    const path = "/api/v1/namespaces/mesh/secrets/mesh-node";
    const { data } = await cluster.requestJson<{ data: Record<string, string> }>({ path });
    const key = parseSharedKey(Buffer.from(data["shared-key"] ?? "", "base64").toString());
    expect(node.endpointId).toBe(deriveEndpointId(key, names[0] ?? ""));
    const others = names.slice(1).map((name, index) => ({
      endpointId: deriveEndpointId(key, name),
      addresses: [`10.44.0.1${index + 1}:${udpPort}`],
      name,
    }));
    await eventually(async () => {
      const { peers = [] } = (await node.call("ListDiscoveredPeers")) as { peers?: { name: string }[] };
      expect(peers.toSorted((one, other) => (one.name < other.name ? -1 : 1))).toMatchObject(others);
    });
  });

  it("was refused nothing, and asked for nothing but EndpointSlices of its namespace", async () => {
    const asked = await ofTheNodes();
    expect(asked.map(({ verb, resource, code }) => `${verb} ${resource} ${code}`)).toEqual(
      expect.arrayContaining(["list endpointslices 200", "watch endpointslices 200"]),
    );
    expect(asked.filter(({ code, resource }) => code >= 400 || resource !== "endpointslices")).toEqual([]);
    expect(new Set(asked.map(({ namespace }) => namespace))).toEqual(new Set(["mesh"]));
  });

  it("answers the probes of its container while it lives, and only then", async () => {
    const container = nodeIn([await deployment()]);
    const codes = () =>
      Promise.all(["startupProbe", "livenessProbe", "readinessProbe"].map((probe) => runProbe(container, probe)));
    expect(await codes()).toEqual([0, 0, 0]);
    expect(await node.end("SIGTERM")).toBe(0);
    expect(await codes()).toEqual([1, 1, 1]);
  });
});

describe("the Role of the release", () => {
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  /** What the server says that the nodes may do, beyond what everybody may. */
  async function granted(): Promise<PolicyRule[]> {
    const access = { ...cluster.admin, token: await tokenOf(cluster, "mesh", "mesh-node") };
    const { body } = await ask(access, {
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
      body: { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace: "mesh" } },
    });
    const { resourceRules } = (body as { status: { resourceRules: PolicyRule[] } }).status;
    return resourceRules.filter(({ resources = [] }) => !resources.every((one) => one.startsWith("selfsubject")));
  }

  async function allow(verbs: readonly string[]): Promise<void> {
    await cluster.requestJson({
      method: "PATCH",
      path: rolePath,
      contentType: "application/json-patch+json",
      body: [{ op: "replace", path: "/rules/0/verbs", value: verbs }],
    });
    await eventually(async () => expect((await granted())[0]?.verbs).toEqual(verbs));
  }

  async function discover(): Promise<Discovery> {
    const directory = mkdtempSync(join(plane.directory, "account-"));
    const files = { "ca.crt": cluster.caPem, token: await tokenOf(cluster, "mesh", "mesh-node"), namespace: "mesh" };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    const config: DiscoveryConfig = configOf(nodeIn([await deployment()]).args).discovery;
    const discovery = startKubernetesDiscovery({
      ...config,
      intervalMs: config.intervalSeconds * 1000,
      defaultPort: 1,
      env: envOf(cluster.url),
      directory,
      clock: systemClock,
      log: fieldLogger([]),
      onMembers: () => undefined,
    });
    stops.push(
      () => discovery.close(),
      async () => rmSync(directory, { recursive: true, force: true }),
    );
    return discovery;
  }

  it("grants reading EndpointSlices, and nothing that not everybody may", async () => {
    expect(await granted()).toEqual([
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["get", "list", "watch"] },
    ]);
  });

  it.each<[string, readonly string[], string | undefined]>([
    ["is enough for discovery", ["get", "list", "watch"], undefined],
    ["without list shows nobody", ["get", "watch"], "Forbidden"],
    ["without watch shows changes only from time to time", ["get", "list"], "WatchForbidden"],
    ["would be enough without get, which is there because people expect it", ["list", "watch"], undefined],
  ])("%s", async (_, verbs, problem) => {
    await allow(verbs);
    const discovery = await discover();
    await eventually(() => expect(discovery.state().problem?.split(":")[0] ?? "none").toBe(problem ?? "none"));
    await eventually(() =>
      expect(discovery.members().map(({ name }) => name)).toEqual(verbs.includes("list") ? names : []),
    );
    await allow(["get", "list", "watch"]);
  });

  it("goes with the release, and so does everything but the Secret that somebody else made", async () => {
    await person.types("helm uninstall mesh-node --namespace mesh");
    const kinds = "deployments,services,roles,rolebindings,secrets,serviceaccounts,poddisruptionbudgets";
    const left = await person.types(`kubectl --namespace mesh get ${kinds} --output name`);
    expect(left.trim().split("\n")).toEqual(["secret/mesh-node", "serviceaccount/default"]);
    expect(parse(await person.types("helm list --namespace mesh --output yaml"))).toEqual([]);
  });
});

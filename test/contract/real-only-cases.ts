import { expect } from "vitest";
import type { RealCluster } from "../../e2e/control-plane/real-cluster.ts";
import { peers } from "../../src/api/kilo-peer.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { nodes, type Resource } from "../../src/kube/resource.ts";
import { peerCrd } from "../../src/sandbox/kilo/peer-crd.ts";
import { eventually } from "../support/eventually.ts";
import { attempts, verbs } from "./absence-cases.ts";
import { aMap, aNamespace, maps, type SecretObject, secrets, unique } from "./arrange.ts";
import { type ContractServer, connectServer } from "./contract-server.ts";
import { refusal, refusedFields } from "./refusal.ts";
import { ownDefinition } from "./widget-definition.ts";

/** What depends on parts of Kubernetes that the sandbox leaves out: RBAC, issued tokens, CEL. */
export interface RealOnlyCase {
  readonly title: string;
  run(server: ContractServer, cluster: RealCluster): Promise<void>;
}

const inGroup = (plural: string, kind: string, namespaced: boolean): Resource => ({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural,
  kind,
  namespaced,
});
const clusterRoles = inGroup("clusterroles", "ClusterRole", false);
const clusterRoleBindings = inGroup("clusterrolebindings", "ClusterRoleBinding", false);
const serviceAccounts: Resource = {
  group: "",
  version: "v1",
  plural: "serviceaccounts",
  kind: "ServiceAccount",
  namespaced: true,
};

/** What a remote cluster's administrator gives us, word for word of the README. */
const remoteRules = [
  { apiGroups: [""], resources: ["nodes"], verbs: ["get", "list", "watch"] },
  {
    apiGroups: ["kilo.squat.ai"],
    resources: ["peers"],
    verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
  },
];

async function clientOf(kubeconfig: string, use: (client: KubeClient) => Promise<void>): Promise<void> {
  const scoped = connectServer({ name: "scoped", kubeconfig, forgetHistory: async () => undefined });
  try {
    await use(scoped.client);
  } finally {
    scoped.close();
  }
}

export const realOnlyCases: readonly RealOnlyCase[] = [
  ...verbs.map((verb) => ({
    title: `${verb} that RBAC does not allow is forbidden, and changes nothing`,
    run: async (server: ContractServer, cluster: RealCluster) => {
      const before = await aMap(server);
      await clientOf(await cluster.scopedKubeconfig({ name: unique("nobody") }), async (client) => {
        const error = await refusal(attempts[verb](client, maps, before.metadata));
        expect([error.kind, error.status, error.verb]).toEqual(["forbidden", 403, verb]);
      });
      expect(await server.client.get(maps, before.metadata)).toEqual(before);
    },
  })),
  {
    title: "the rights of the README let us read Nodes and write Peers, and nothing else",
    run: async (server, cluster) => {
      await server.kind(peerCrd());
      const scope = { name: unique("reader"), clusterRoleRules: remoteRules };
      await clientOf(await cluster.scopedKubeconfig(scope), async (client) => {
        expect((await client.list(nodes)).metadata.resourceVersion).toMatch(/^\d+$/);
        const metadata = { name: unique("peer") };
        const peer = await client.create(peers, { metadata, spec: { allowedIPs: [], publicKey: "a" } });
        await client.replace(peers, { ...peer, spec: { allowedIPs: ["10.0.0.0/24"], publicKey: "a" } });
        await client.delete(peers, metadata);
        const node = await refusal(client.patch(nodes, metadata, { body: { metadata: { labels: { a: "b" } } } }));
        expect(node.kind).toBe("forbidden");
        expect((await refusal(client.list(secrets, { namespace: "default" }))).kind).toBe("forbidden");
      });
    },
  },
  {
    title: "the long-lived token of the README's Secret is filled in and opens the door",
    run: async (server) => {
      const namespace = await aNamespace(server);
      const name = unique("reader");
      const typed = (object: object) => object as KubeObject;
      await server.client.create(serviceAccounts, { metadata: { name, namespace } });
      await server.client.create(clusterRoles, typed({ metadata: { name }, rules: remoteRules }));
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
      const subjects = [{ kind: "ServiceAccount", name, namespace }];
      await server.client.create(clusterRoleBindings, typed({ metadata: { name }, roleRef, subjects }));
      const annotations = { "kubernetes.io/service-account.name": name };
      const secret: SecretObject = {
        metadata: { name: `${name}-token`, namespace, annotations },
        type: "kubernetes.io/service-account-token",
      };
      await server.client.create(secrets, secret);
      const token = await eventually(async () => {
        const { data } = await server.client.get(secrets, secret.metadata);
        if (!data?.token) throw new Error("the token is not there yet");
        return Buffer.from(data.token, "base64").toString();
      });
      const reader = server.clientWith(token);
      expect((await reader.list(nodes)).metadata.resourceVersion).toMatch(/^\d+$/);
      expect((await refusal(reader.list(maps, { namespace }))).kind).toBe("forbidden");
    },
  },
  {
    title: "a token is refused once its ServiceAccount is gone",
    run: async (server, cluster) => {
      const namespace = await aNamespace(server);
      const name = unique("passing");
      const kubeconfig = await cluster.scopedKubeconfig({ name, namespace, clusterRoleRules: remoteRules });
      await clientOf(kubeconfig, async (client) => {
        expect((await client.list(nodes)).items).toBeInstanceOf(Array);
        await server.client.delete(serviceAccounts, { name, namespace });
        const error = await eventually(() => refusal(client.list(nodes)));
        expect([error.kind, error.status]).toEqual(["unauthorized", 401]);
      });
    },
  },
  {
    title: "a rule in CEL refuses what breaks it, in its own words, and guards changes",
    run: async (server) => {
      const rules = [
        { rule: "self.low <= self.high", message: "low must not be above high" },
        { rule: "self.low == oldSelf.low", message: "low cannot change" },
      ];
      const definition = ownDefinition({
        range: {
          type: "object",
          required: ["low", "high"],
          properties: { low: { type: "integer" }, high: { type: "integer" } },
          "x-kubernetes-validations": rules,
        },
      });
      const ranges = await server.kind(definition);
      const metadata = { name: unique("range"), namespace: await aNamespace(server) };
      const create = (low: number, high: number) =>
        server.client.create(ranges, { metadata, spec: { range: { low, high } } });
      const { causes } = await refusal(create(2, 1));
      expect(causes).toEqual([{ field: "spec.range", message: expect.stringContaining("low must not be above high") }]);
      await create(1, 2);
      const change = server.client.patch(ranges, metadata, { body: { spec: { range: { low: 0 } } } });
      expect(await refusedFields(change)).toEqual(["spec.range"]);
    },
  },
];

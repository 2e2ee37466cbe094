import { expect } from "vitest";
import type { KubeObject } from "../../src/kube/object.ts";
import { namespaces, nodes } from "../../src/kube/resource.ts";
import { aMap, aNamespace, namesOf, secrets, unique } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractServer } from "./contract-server.ts";
import { refusal } from "./refusal.ts";

const teams: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  amber: { team: "red", tier: "one" },
  brown: { team: "blue" },
  coral: { tier: "" },
  denim: { team: "blue", tier: "two" },
};

async function labelledSecrets(server: ContractServer): Promise<string> {
  const namespace = await aNamespace(server);
  for (const [name, labels] of Object.entries(teams)) {
    await server.client.create(secrets, { metadata: { name, namespace, labels } });
  }
  return namespace;
}

const selected: readonly (readonly [selector: string, names: readonly string[]])[] = [
  ["team=blue", ["brown", "denim"]],
  ["team==red", ["amber"]],
  ["team!=blue", ["amber", "coral"]],
  ["team in (red,blue)", ["amber", "brown", "denim"]],
  ["team notin (red)", ["brown", "coral", "denim"]],
  ["tier", ["amber", "coral", "denim"]],
  ["!tier", ["brown"]],
  ["tier=", ["coral"]],
  ["team=blue,tier in (two, three)", ["denim"]],
  ["team=green", []],
];

export const selectorCases: readonly ContractCase[] = [
  ...selected.map(([labelSelector, names]) => ({
    title: `the label selector "${labelSelector}" finds ${names.length === 0 ? "nothing" : names.join(", ")}`,
    run: async (server: ContractServer) => {
      const namespace = await labelledSecrets(server);
      expect(namesOf(await server.client.list(secrets, { namespace, labelSelector }))).toEqual(names);
    },
  })),
  {
    title: "a label selector that cannot be read is refused as a bad request",
    run: async (server) => {
      for (const labelSelector of ["team=(", "in (a)", "team in red", "-bad=x"]) {
        const error = await refusal(server.client.list(secrets, { namespace: "default", labelSelector }));
        expect([labelSelector, error.kind, error.status]).toEqual([labelSelector, "invalid", 400]);
      }
    },
  },
  {
    title: "a field selector finds by name, by namespace and by their opposite",
    run: async (server) => {
      const namespace = await labelledSecrets(server);
      const find = async (fieldSelector: string) =>
        namesOf(await server.client.list(secrets, { labelSelector: "!elsewhere", fieldSelector }));
      expect(await find(`metadata.namespace=${namespace},metadata.name=brown`)).toEqual(["brown"]);
      expect(await find(`metadata.namespace=${namespace},metadata.name!=brown`)).toEqual(["amber", "coral", "denim"]);
    },
  },
  {
    title: "a field selector of a Secret's type and of a Node's schedulability finds those",
    run: async (server) => {
      const namespace = await labelledSecrets(server);
      await server.client.create(secrets, { metadata: { name: "typed", namespace }, type: "example.org/kind" });
      const found = await server.client.list(secrets, { namespace, fieldSelector: "type=example.org/kind" });
      expect(namesOf(found)).toEqual(["typed"]);
      const labels = { of: namespace };
      const node = { metadata: { name: unique("node"), labels }, spec: { unschedulable: true } } as KubeObject;
      await server.client.create(nodes, node);
      await server.client.create(nodes, { metadata: { name: unique("other"), labels } });
      const asked = { labelSelector: `of=${namespace}`, fieldSelector: "spec.unschedulable=true" };
      expect(namesOf(await server.client.list(nodes, asked))).toEqual([node.metadata.name]);
    },
  },
  {
    title: "a field that cannot be selected by is refused as a bad request",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const asked = { namespace: metadata.namespace ?? "", fieldSelector: "data.key=one" };
      const error = await refusal(server.client.list(secrets, asked));
      expect([error.kind, error.status]).toEqual(["invalid", 400]);
    },
  },
  {
    title: "every namespace can be found by the label of its name",
    run: async (server) => {
      const namespace = await aNamespace(server);
      const labelSelector = `kubernetes.io/metadata.name=${namespace}`;
      expect(namesOf(await server.client.list(namespaces, { labelSelector }))).toEqual([namespace]);
    },
  },
];

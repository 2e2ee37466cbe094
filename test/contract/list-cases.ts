import { expect } from "vitest";
import { listAll } from "../../src/kube/list-pages.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { compareVersions } from "../../src/kube/resource-version.ts";
import { eventually } from "../support/eventually.ts";
import { aMap, aNamespace, aWidget, maps, namesOf, secrets, widgetPlace } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractServer } from "./contract-server.ts";
import { refusal } from "./refusal.ts";

const letters = ["a", "b", "c", "d", "e"];

/** Five Secrets, a to e, in a fresh namespace: unlike ConfigMaps, nobody else puts any there. */
async function fiveSecrets({ client, ...server }: ContractServer): Promise<string> {
  const namespace = await aNamespace({ client, ...server });
  for (const name of ["d", "b", "e", "a", "c"]) await client.create(secrets, { metadata: { name, namespace } });
  return namespace;
}

interface ListBody {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly KubeObject[];
}

export const listCases: readonly ContractCase[] = [
  {
    title: "a list is sorted by name and has a version no older than its items",
    run: async (server) => {
      const namespace = await fiveSecrets(server);
      const list = await server.client.list(secrets, { namespace });
      expect(namesOf(list)).toEqual(letters);
      const newest = list.items
        .map(({ metadata }) => metadata.resourceVersion ?? "")
        .sort(compareVersions)
        .at(-1);
      expect(compareVersions(list.metadata.resourceVersion, newest ?? "")).toBeGreaterThanOrEqual(0);
    },
  },
  {
    title: "a list of all namespaces is sorted by namespace, then by name",
    run: async (server) => {
      const { widgets } = await widgetPlace(server);
      const spaces = [await aNamespace(server), await aNamespace(server)].sort();
      const labels = { in: spaces[0] ?? "" };
      for (const namespace of spaces.toReversed()) {
        for (const name of ["b", "a"]) {
          await server.client.create(widgets, { metadata: { name, namespace, labels }, spec: { size: 1 } });
        }
      }
      const list = await server.client.list(widgets, { labelSelector: `in=${spaces[0]}` });
      expect(list.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(
        spaces.flatMap((namespace) => [`${namespace}/a`, `${namespace}/b`]),
      );
    },
  },
  {
    title: "pages of a list have the limit's size, one version, and end without a token",
    run: async (server) => {
      const namespace = await fiveSecrets(server);
      const first = await server.client.list(secrets, { namespace, limit: 2 });
      const second = await server.client.list(secrets, {
        namespace,
        limit: 2,
        continue: first.metadata.continue ?? "",
      });
      const third = await server.client.list(secrets, {
        namespace,
        limit: 2,
        continue: second.metadata.continue ?? "",
      });
      expect([first, second, third].map(namesOf)).toEqual([["a", "b"], ["c", "d"], ["e"]]);
      expect(third.metadata.continue).toBeUndefined();
      const versions = new Set([first, second, third].map(({ metadata }) => metadata.resourceVersion));
      expect(versions).toEqual(new Set([first.metadata.resourceVersion]));
    },
  },
  {
    title: "a page says how many items remain",
    run: async (server) => {
      const namespace = await fiveSecrets(server);
      const path = `/api/v1/namespaces/${namespace}/secrets?limit=2`;
      const first = (await server.raw({ path })).body as ListBody;
      expect(first.metadata.remainingItemCount).toBe(3);
      const next = (await server.raw({ path: `${path}&continue=${first.metadata.continue}` })).body as ListBody;
      expect(next.metadata.remainingItemCount).toBe(1);
      const whole = (await server.raw({ path: `/api/v1/namespaces/${namespace}/secrets?limit=5` })).body as ListBody;
      expect([whole.metadata.remainingItemCount, whole.metadata.continue]).toEqual([undefined, undefined]);
    },
  },
  {
    title: "pages show the moment of the first one, whatever is written meanwhile",
    run: async (server) => {
      const namespace = await fiveSecrets(server);
      const first = await server.client.list(secrets, { namespace, limit: 2 });
      await server.client.delete(secrets, { namespace, name: "c" });
      await server.client.create(secrets, { metadata: { namespace, name: "cc" } });
      const labels = { late: "yes" };
      await server.client.patch(secrets, { namespace, name: "d" }, { body: { metadata: { labels } } });
      const rest = await server.client.list(secrets, { namespace, continue: first.metadata.continue ?? "" });
      expect(namesOf(rest)).toEqual(["c", "d", "e"]);
      expect(rest.items[1]?.metadata.labels).toBeUndefined();
      expect(namesOf(await server.client.list(secrets, { namespace }))).toEqual(["a", "b", "cc", "d", "e"]);
    },
  },
  {
    title: "listAll reads every page into one list",
    run: async (server) => {
      const namespace = await fiveSecrets(server);
      expect(namesOf(await listAll(server.client, secrets, { namespace, limit: 2 }))).toEqual(letters);
    },
  },
  {
    title: "pages and a selector go together",
    run: async (server) => {
      const namespace = await fiveSecrets(server);
      const labels = { odd: "yes" };
      for (const name of ["a", "c", "e"]) {
        await server.client.patch(secrets, { namespace, name }, { body: { metadata: { labels } } });
      }
      const asked = { namespace, labelSelector: "odd=yes" };
      const first = await server.client.list(secrets, { ...asked, limit: 2 });
      const rest = await server.client.list(secrets, { ...asked, limit: 2, continue: first.metadata.continue ?? "" });
      expect([namesOf(first), namesOf(rest), rest.metadata.continue]).toEqual([["a", "c"], ["e"], undefined]);
    },
  },
  {
    title: "a forgotten moment is gone for a continue token, which is replaced, and for a list of exactly that version",
    run: async (server) => {
      const { widgets, place } = await aWidget(server);
      const { namespace } = place;
      for (const name of letters)
        await server.client.create(widgets, { metadata: { name, namespace }, spec: { size: 1 } });
      const first = await server.client.list(widgets, { namespace, limit: 2 });
      const token = first.metadata.continue ?? "";
      await server.client.create(widgets, { metadata: { name: "dd", namespace }, spec: { size: 1 } });
      await server.forgetHistory();
      const error = await eventually(() =>
        refusal(server.client.list(widgets, { namespace, limit: 2, continue: token })),
      );
      expect([error.kind, error.status]).toEqual(["gone", 410]);
      const path = `/apis/contract.example.org/v1/namespaces/${namespace}/widgets?continue=`;
      const { resourceVersion } = first.metadata;
      const exact = await server.raw({ path: `${path}&resourceVersionMatch=Exact&resourceVersion=${resourceVersion}` });
      expect(exact).toMatchObject({ status: 410, body: { reason: "Expired" } });
      const { body } = await server.raw({ path: `${path}${token}` });
      expect(body).toMatchObject({ reason: "Expired", code: 410 });
      const fresh = (body as { metadata: { continue: string } }).metadata.continue;
      const rest = await server.raw({ path: `${path}${fresh}` });
      expect(namesOf(rest.body as ListBody)).toEqual(["c", "d", "dd", "e", place.name]);
    },
  },
  {
    title: "a continue token that the server did not make is refused as a bad request",
    run: async (server) => {
      const namespace = await fiveSecrets(server);
      const error = await refusal(server.client.list(secrets, { namespace, limit: 2, continue: "nonsense" }));
      expect([error.kind, error.status]).toEqual(["invalid", 400]);
    },
  },
  {
    title: "a list that may be of any moment, or no older than one, has what was written before",
    run: async (server) => {
      const { metadata } = await aMap(server);
      const { namespace = "", name, resourceVersion = "" } = metadata;
      const fieldSelector = `metadata.name=${name}`;
      const notOlder = await server.client.list(maps, { namespace, fieldSelector, resourceVersion });
      expect(namesOf(notOlder)).toEqual([name]);
      expect(compareVersions(notOlder.metadata.resourceVersion, resourceVersion)).toBeGreaterThanOrEqual(0);
      const any = await server.client.list(maps, { namespace, fieldSelector, resourceVersion: "0" });
      expect(any.metadata.resourceVersion).toMatch(/^\d+$/);
    },
  },
  {
    title: "a list of an exact version shows that moment",
    run: async (server) => {
      const namespace = await fiveSecrets(server);
      const { resourceVersion } = (await server.client.list(secrets, { namespace })).metadata;
      await server.client.delete(secrets, { namespace, name: "a" });
      const path = `/api/v1/namespaces/${namespace}/secrets`;
      const query = `?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
      const { body } = await server.raw({ path: path + query });
      expect(namesOf(body as ListBody)).toEqual(letters);
      expect((body as ListBody).metadata.resourceVersion).toBe(resourceVersion);
    },
  },
  {
    title: "a list from a version that does not exist yet is a timeout that says when to ask again",
    waits: true,
    run: async (server) => {
      const resourceVersion = "1000000000000";
      const error = await refusal(server.client.list(maps, { namespace: "default", resourceVersion }));
      expect([error.kind, error.status, error.retryAfterMs]).toEqual(["timeout", 504, 1000]);
    },
  },
  {
    title: "a list of any moment ignores its limit",
    run: async (server) => {
      const namespace = await fiveSecrets(server);
      const { resourceVersion } = (await server.client.list(secrets, { namespace })).metadata;
      await server.client.list(secrets, { namespace, resourceVersion });
      const { body } = await server.raw({ path: `/api/v1/namespaces/${namespace}/secrets?limit=2&resourceVersion=0` });
      expect(namesOf(body as ListBody)).toEqual(letters);
    },
  },
  {
    title: "a get of a version that does not exist yet is a timeout",
    waits: true,
    run: async (server) => {
      const namespace = await fiveSecrets(server);
      const path = `/api/v1/namespaces/${namespace}/secrets/a?resourceVersion=1000000000000`;
      expect(await server.raw({ path })).toMatchObject({ status: 504, body: { reason: "Timeout", code: 504 } });
    },
  },
  {
    title: "a version that is no number, and a match without a version, are refused",
    run: async (server) => {
      const list = server.client.list(maps, { namespace: "default", resourceVersion: "nonsense" });
      expect(["invalid", "server"]).toContain((await refusal(list)).kind);
      const path = "/api/v1/namespaces/default/configmaps";
      expect((await server.raw({ path: `${path}?resourceVersionMatch=Exact` })).status).toBe(422);
      expect((await server.raw({ path: `${path}?resourceVersionMatch=Nonsense&resourceVersion=1` })).status).toBe(422);
      const both = `${path}?resourceVersionMatch=Exact&resourceVersion=0`;
      expect((await server.raw({ path: both })).status).toBe(422);
    },
  },
];

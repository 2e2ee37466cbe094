import { expect } from "vitest";
import { eventObject, events, seriesOf } from "../../src/kube/event-object.ts";
import { claimedLease, leases, newLease, releasedLease } from "../../src/kube/lease-record.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { nodes } from "../../src/kube/resource.ts";
import { aNamespace, aPlace, unique } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractServer } from "./contract-server.ts";
import { refusal, refusedFields } from "./refusal.ts";

const at = new Date("2024-02-29T12:00:00.123Z");
const reporter = { controller: "example.org/tests", instance: "tests-0" };

/** An Event as our recorder makes it, about a ConfigMap in a fresh namespace. */
async function anEvent(server: ContractServer) {
  const namespace = await aNamespace(server);
  const regarding = { apiVersion: "v1", kind: "ConfigMap", name: "subject", namespace };
  const input = { regarding, type: "Warning", reason: "Tested", note: "It was tested." } as const;
  return eventObject(input, { reporter, date: at, suffix: unique("event") });
}

async function aNode(server: ContractServer, spec: Readonly<Record<string, unknown>>) {
  return server.client.create(nodes, { metadata: { name: unique("node") }, spec } as KubeObject);
}

const badEvents: readonly (readonly [title: string, change: Readonly<Record<string, unknown>>, field: string])[] = [
  ["no time", { eventTime: undefined }, "eventTime"],
  ["no controller", { reportingController: "" }, "reportingController"],
  ["no instance", { reportingInstance: "" }, "reportingInstance"],
  ["no action", { action: "" }, "action"],
  ["no reason", { reason: "" }, "reason"],
  ["a type of its own", { type: "Odd" }, "type"],
  ["a note that is too long", { note: "x".repeat(1025) }, "message"],
  ["a subject without a namespace", { regarding: { kind: "Node", name: "a" } }, "involvedObject.namespace"],
  ["a series of one", { series: { count: 1, lastObservedTime: "2024-02-29T12:00:00.000000Z" } }, "series.count"],
];

/** The kinds that the operator writes or reads beside its own. */
export const operatorKindCases: readonly ContractCase[] = [
  {
    title: "a Lease that our elector writes is stored to the microsecond",
    run: async (server) => {
      const ref = await aPlace(server);
      const claim = { identity: "one", leaseDurationSeconds: 15, date: at };
      const created = await server.client.create(leases, newLease(ref, claim));
      expect(created.spec).toEqual({
        holderIdentity: "one",
        leaseDurationSeconds: 15,
        acquireTime: "2024-02-29T12:00:00.123000Z",
        renewTime: "2024-02-29T12:00:00.123000Z",
        leaseTransitions: 0,
      });
      const taken = await server.client.replace(leases, claimedLease(created, { ...claim, identity: "two" }));
      expect(taken.spec).toMatchObject({ holderIdentity: "two", leaseTransitions: 1 });
      const released = await server.client.replace(leases, releasedLease(taken, at));
      expect(released.spec).toMatchObject({ leaseDurationSeconds: 1, holderIdentity: "" });
      const stale = refusal(server.client.replace(leases, claimedLease(created, claim)));
      expect((await stale).kind).toBe("conflict");
    },
  },
  {
    title: "an Event that our recorder writes is stored, and is the same Event in the core group",
    run: async (server) => {
      const input = await anEvent(server);
      const event = await server.client.create(events, input);
      expect(event).toMatchObject(input);
      expect(event.eventTime).toBe("2024-02-29T12:00:00.123000Z");
      const { namespace, name } = event.metadata;
      expect(await server.raw({ path: `/api/v1/namespaces/${namespace}/events/${name}` })).toMatchObject({
        status: 200,
        body: {
          apiVersion: "v1",
          involvedObject: { name: "subject" },
          message: "It was tested.",
          reportingComponent: "example.org/tests",
          reportingInstance: "tests-0",
        },
      });
    },
  },
  ...badEvents.map(([title, change, field]) => ({
    title: `an Event with ${title} is refused, and the field is named`,
    run: async (server: ContractServer) => {
      const event = { ...(await anEvent(server)), ...change };
      expect(await refusedFields(server.client.create(events, event))).toEqual([field]);
    },
  })),
  {
    title: "an Event is counted by its series and otherwise stays as it is",
    run: async (server) => {
      const { metadata } = await server.client.create(events, await anEvent(server));
      const patch = (body: unknown) => server.client.patch(events, metadata, { body });
      const series = seriesOf(2, at);
      expect((await patch({ series })).series).toEqual(series);
      expect(await refusedFields(patch({ note: "changed" }))).toEqual(["message"]);
      expect(await refusedFields(patch({ reason: "Changed" }))).toEqual(["reason"]);
      expect((await patch({ series: { count: 3 } })).series?.count).toBe(3);
    },
  },
  {
    title: "Events are found by the name of what they are about and by their reason",
    run: async (server) => {
      const event = await server.client.create(events, await anEvent(server));
      const namespace = event.metadata.namespace ?? "";
      const find = async (fieldSelector: string) =>
        (await server.client.list(events, { namespace, fieldSelector })).items.length;
      expect(await find("regarding.name=subject,reason=Tested")).toBe(1);
      expect(await find("regarding.name=other")).toBe(0);
      expect(await find("type!=Warning")).toBe(0);
    },
  },
  {
    title: "a Lease of no seconds is refused, and so is a time without microseconds",
    run: async (server) => {
      const ref = await aPlace(server);
      const lease = newLease(ref, { identity: "one", leaseDurationSeconds: 0, date: at });
      expect(await refusedFields(server.client.create(leases, lease))).toEqual(["spec.leaseDurationSeconds"]);
      for (const renewTime of ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.123Z", "today"]) {
        const error = await refusal(server.client.create(leases, { metadata: ref, spec: { renewTime } }));
        expect([renewTime, error.kind, error.status]).toEqual([renewTime, "invalid", 400]);
      }
    },
  },
  {
    title: "a Node with one pod network has it in both of its fields, and the list wins over the other",
    run: async (server) => {
      const spec = { podCIDR: "10.1.2.0/24", podCIDRs: ["10.1.2.0/24"] };
      expect(await aNode(server, { podCIDR: "10.1.2.0/24" })).toMatchObject({ spec });
      expect(await aNode(server, { podCIDRs: ["10.1.2.0/24"] })).toMatchObject({ spec });
      const both = { podCIDRs: ["10.1.2.0/24", "fd00:1::/64"] };
      expect(await aNode(server, both)).toMatchObject({ spec: { ...both, podCIDR: "10.1.2.0/24" } });
    },
  },
  {
    title: "a Node's pod networks are set once and cannot change",
    run: async (server) => {
      const { metadata } = await aNode(server, {});
      const patch = (body: unknown) => server.client.patch(nodes, metadata, { body });
      const set = await patch({ spec: { podCIDR: "10.1.2.0/24" } });
      expect(set).toMatchObject({ spec: { podCIDRs: ["10.1.2.0/24"] } });
      const other = { podCIDR: "10.9.9.0/24", podCIDRs: ["10.9.9.0/24"] };
      expect(await refusedFields(patch({ spec: other }))).toEqual(["spec.podCIDRs"]);
      expect(await refusedFields(patch({ spec: { podCIDR: null, podCIDRs: null } }))).toEqual(["spec.podCIDRs"]);
    },
  },
  {
    title: "pod networks that are none, or two of one family, are refused",
    run: async (server) => {
      expect(await refusedFields(aNode(server, { podCIDR: "nonsense" }))).toEqual(["spec.podCIDRs[0]"]);
      const twice = { podCIDRs: ["10.1.2.0/24", "10.1.3.0/24"] };
      expect(await refusedFields(aNode(server, twice))).toEqual(["spec.podCIDRs"]);
    },
  },
  {
    title: "a new Node is marked as not ready by a taint",
    run: async (server) => {
      const created = await server.client.create(nodes, { metadata: { name: unique("node") } });
      const taints = [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }];
      expect(created).toMatchObject({ spec: { taints } });
    },
  },
];

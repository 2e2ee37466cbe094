import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Discovering } from "../../../test/support/discovering.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { anEndpoint, aSlice } from "../../../test/support/slices.ts";
import { namespaces } from "../../kube/resource.ts";

let bed: Discovering;

beforeEach(async () => {
  bed = await Discovering.create();
  bed.cluster.store.create(namespaces, { metadata: { name: "mesh" } });
});

afterEach(() => bed.stopAll());

const three = [10, 11, 12].map((n) => anEndpoint(`peat-${n - 10}`, `10.44.0.${n}`));

describe("discovery in a cluster", () => {
  test("tells who is in the slices at once, and every change as it happens", async () => {
    bed.put(aSlice());
    const { told, names, discovery } = bed.start();
    await eventually(() => expect(names()).toEqual(["peat-0", "peat-1"]));
    expect(discovery.state()).toEqual({ known: true });
    bed.put(aSlice({ endpoints: three }));
    await eventually(() => expect(names()).toEqual(["peat-0", "peat-1", "peat-2"]));
    bed.remove("peat-abc12");
    await eventually(() => expect(names()).toEqual([]));
    expect(told.map((members) => members.length)).toEqual([2, 3, 0]);
  });

  test("says nothing when it lists the same again and again", async () => {
    bed.put(aSlice());
    const { told } = bed.start({ intervalMs: 1_000 });
    await eventually(() => expect(bed.cluster.requests.count({ verb: "list" })).toBeGreaterThan(5));
    bed.put(aSlice({ labels: { unimportant: "change" } }));
    await delay(100);
    expect(told).toHaveLength(1);
  });

  test("finds at the next interval what the watch did not bring", async () => {
    const { names } = bed.start({ intervalMs: 10_000 });
    await eventually(() => expect(bed.cluster.requests.openWatches()).toBe(1));
    bed.cluster.faults.add({ match: { verb: "watch" }, do: { kind: "drop-event" } });
    bed.put(aSlice());
    await eventually(() => expect(names()).toEqual(["peat-0", "peat-1"]));
    expect(bed.cluster.faults.injected["drop-event"]).toBeGreaterThan(0);
  });

  test("brings many slices as one change", async () => {
    for (let n = 0; n < 30; n++)
      bed.put(aSlice({ name: `s${n}`, endpoints: [anEndpoint(`peat-${n}`, `10.44.1.${n}`)] }));
    const { told, names } = bed.start();
    await eventually(() => expect(names()).toHaveLength(30));
    expect(told).toHaveLength(1);
  });

  test("reads a list of several pages to its end", async () => {
    for (let n = 0; n < 600; n++) {
      const endpoints = [anEndpoint(`peat-${n}`, `10.45.${Math.floor(n / 200)}.${n % 200}`)];
      bed.put(aSlice({ name: `s${n}`, endpoints }));
    }
    const { told, names } = bed.start();
    await eventually(() => expect(names()).toHaveLength(600));
    expect(told).toHaveLength(1);
    expect(bed.cluster.requests.count({ verb: "list" })).toBe(2);
  });

  test("looks only at slices with the label, in the namespace", async () => {
    bed.cluster.store.create(namespaces, { metadata: { name: "other" } });
    bed.put(aSlice());
    bed.put(aSlice({ name: "foreign", labels: { app: "else" }, endpoints: three }));
    const { names } = bed.start();
    const { names: elsewhere, discovery } = bed.start({ namespace: "other" });
    await eventually(() => expect(names()).toEqual(["peat-0", "peat-1"]));
    await eventually(() => expect(discovery.state()).toEqual({ known: true }));
    expect(elsewhere()).toEqual([]);
  });

  test("warns once of what is odd in a slice, and again when it was put right in between", async () => {
    const odd = aSlice({ annotations: { "peat.endpoint_id": "a".repeat(64) } });
    bed.put(odd);
    const { warnings, told } = bed.start({ intervalMs: 1_000 });
    const seen = () => warnings().filter(({ fields }) => fields.reason === "IdentityShared");
    await eventually(() => expect(bed.cluster.requests.count({ verb: "list" })).toBeGreaterThan(3));
    bed.put({ ...odd, endpoints: three });
    await eventually(() => expect(told).toHaveLength(2));
    expect(seen()).toMatchObject([{ fields: { name: "peat-abc12", namespace: "mesh" } }]);
    bed.put(aSlice({ endpoints: three.slice(0, 1) }));
    await eventually(() => expect(told).toHaveLength(3));
    bed.put(odd);
    await eventually(() => expect(seen()).toHaveLength(2));
  });

  test("goes on when whoever listens fails", async () => {
    bed.put(aSlice());
    const { names, warnings } = bed.start({
      onMembers: () => {
        throw new Error("planted");
      },
    });
    await eventually(() => expect(warnings()).toMatchObject([{ message: "listener failed" }]));
    bed.put(aSlice({ endpoints: three }));
    await eventually(() => expect(names()).toHaveLength(3));
  });

  test("leaves nothing open behind when it is closed, and says no more", async () => {
    bed.put(aSlice());
    const { discovery, told, names } = bed.start();
    await eventually(() => expect(bed.cluster.requests.openWatches()).toBe(1));
    await Promise.all([discovery.close(), discovery.close()]);
    await eventually(() => expect(bed.cluster.requests.openWatches()).toBe(0));
    bed.put(aSlice({ endpoints: three }));
    await delay(50);
    expect(names()).toEqual(["peat-0", "peat-1"]);
    expect(told).toHaveLength(1);
    expect(discovery.state()).toMatchObject({ known: false });
  });
});

describe("the namespace", () => {
  const chosen = (log: ReturnType<Discovering["start"]>["log"]) =>
    log.find(({ message }) => message === "kubernetes discovery starts")?.fields;

  test("is the one that was asked for, before the pod's own", () => {
    expect(chosen(bed.start({ namespace: "asked" }).log)).toMatchObject({
      namespace: "asked",
      namespaceFrom: "configuration",
    });
  });

  test("is the pod's own, without the line break", () => {
    expect(chosen(bed.start().log)).toMatchObject({ namespace: "mesh", namespaceFrom: "service account" });
  });

  test("is `default` where nothing says which", async () => {
    await rm(join(bed.pod.directory, "namespace"));
    expect(chosen(bed.start().log)).toMatchObject({ namespace: "default", namespaceFrom: "default" });
  });
});

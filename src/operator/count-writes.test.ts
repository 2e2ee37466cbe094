import { describe, expect, it } from "vitest";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import { configMaps, nodes } from "../kube/resource.ts";
import { countingWrites, type WriteCall } from "./count-writes.ts";
import { gated } from "./gate.ts";

const ref = { namespace: "default", name: "x" };
const object = { metadata: ref };

/** A client whose every call answers, or fails with `error`. */
function aClient(error?: Error): KubeClient {
  const answer = async () => {
    if (error) throw error;
    return object as never;
  };
  const verbs = ["get", "list", "watch", "create", "replace", "patch", "delete"].map((verb) => [verb, answer]);
  return { cluster: "c", close: () => undefined, ...Object.fromEntries(verbs) } as KubeClient;
}

function counted(client: KubeClient): { client: KubeClient; writes: string[] } {
  const writes: string[] = [];
  const note = ({ verb, resource, outcome }: WriteCall) => void writes.push(`${verb} ${resource} ${outcome}`);
  return { client: countingWrites(client, note), writes };
}

describe("writes", () => {
  it("are told with what was written and how; reads are not", async () => {
    const { client, writes } = counted(aClient());
    await client.get(nodes, ref);
    await client.list(nodes);
    await client.create(configMaps, object);
    await client.replace(configMaps, object, { subresource: "status" });
    await client.patch({ ...configMaps, group: "kilo.squat.ai" }, ref, { body: {}, subresource: "status" });
    await client.delete(nodes, ref);
    expect(writes).toEqual([
      "create configmaps written",
      "replace configmaps/status written",
      "patch configmaps.kilo.squat.ai/status written",
      "delete nodes written",
    ]);
  });

  it.each<[string, Error]>([
    ["conflict", new KubeError({ kind: "conflict", cluster: "c", verb: "replace", resource: "configmaps" })],
    ["aborted", new DOMException("stopped", "AbortError")],
    ["bug", new TypeError("oops")],
  ])("that end with %s are told so, and the error goes on", async (outcome, error) => {
    const { client, writes } = counted(aClient(error));
    await expect(client.replace(configMaps, object)).rejects.toBe(error);
    expect(writes).toEqual([`replace configmaps ${outcome}`]);
  });

  it("that the gate did not let through are told too", async () => {
    const { client, writes } = counted(gated(aClient(), { mayWrite: () => false }));
    await expect(client.create(configMaps, object)).rejects.toThrow("not leading");
    expect(writes).toEqual(["create configmaps not-leading"]);
  });
});

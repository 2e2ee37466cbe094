import { describe, expect, it } from "vitest";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import { configMaps } from "../kube/resource.ts";
import { gated, NotLeading, refusalOf } from "./gate.ts";

const ref = { namespace: "default", name: "x" };
const object = { metadata: ref };

/** A client that counts what reaches it. */
function counting(): { client: KubeClient; calls: string[] } {
  const calls: string[] = [];
  const answer = (verb: string) => async () => {
    calls.push(verb);
    return object as never;
  };
  const verbs = ["get", "list", "watch", "create", "replace", "patch", "delete"].map((verb) => [verb, answer(verb)]);
  return { calls, client: { cluster: "c", close: () => undefined, ...Object.fromEntries(verbs) } as KubeClient };
}

const writes = (client: KubeClient, deadlineMs: number): Promise<unknown>[] => [
  client.create(configMaps, object, { deadlineMs }),
  client.replace(configMaps, object, { deadlineMs }),
  client.patch(configMaps, ref, { body: {}, deadlineMs }),
  client.delete(configMaps, ref, { deadlineMs }),
];

describe("the gate", () => {
  it("lets a write start only if the lease outlives its deadline", async () => {
    const { client, calls } = counting();
    const behind = gated(client, { mayWrite: (deadlineMs) => deadlineMs < 5000 });
    await Promise.all(writes(behind, 4999));
    const refused = await Promise.allSettled(writes(behind, 5000));
    expect(calls).toEqual(["create", "replace", "patch", "delete"]);
    expect(refused.every(({ status }) => status === "rejected")).toBe(true);
  });

  it("counts a write without a deadline as one that may take ten seconds", async () => {
    const { client } = counting();
    const behind = gated(client, { mayWrite: (deadlineMs) => deadlineMs < 10_000 });
    await expect(behind.create(configMaps, object)).rejects.toThrow(NotLeading);
  });

  it("does not stand before reads", async () => {
    const { client, calls } = counting();
    const behind = gated(client, { mayWrite: () => false });
    await behind.get(configMaps, ref);
    await behind.list(configMaps);
    expect(calls).toEqual(["get", "list"]);
  });
});

describe("a refusal", () => {
  it("is told in a word, and a bug is thrown again", () => {
    const error = new KubeError({ kind: "conflict", cluster: "c", verb: "replace", resource: "peers" });
    expect([refusalOf(error), refusalOf(new NotLeading())]).toEqual(["conflict", "not leading"]);
    expect(() => refusalOf(new TypeError("oops"))).toThrow("oops");
  });
});

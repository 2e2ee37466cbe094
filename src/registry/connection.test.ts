import { afterEach, describe, expect, it } from "vitest";
import { aKey, conn } from "../../test/support/build.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { aList, modified, ScriptedClient, ScriptedStream } from "../../test/support/scripted-client.ts";
import { type NodeObject, nodes } from "../api/kilo-node.ts";
import { nodeAnnotations } from "../api/names.ts";
import type { KubeClient, WatchOptions } from "../kube/client.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import { silentLogger } from "../runtime/log.ts";
import { type ClusterChange, Connection } from "./connection.ts";

const aNodeAt = (version: number, said: Record<string, string> = {}): NodeObject => ({
  metadata: {
    name: "n",
    uid: "u",
    resourceVersion: String(version),
    annotations: { [nodeAnnotations.key]: "k", ...said },
  },
});

const opened: Connection[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((connection) => connection.stop()));
});

/** A cluster of one node, of which the test tells what is heard. */
async function aConnection() {
  const [clock, stream, script] = [new FakeClock(), new ScriptedStream(), new ScriptedClient()];
  const list = async ({ plural }: Resource<KubeObject>) =>
    plural === nodes.plural ? aList(10, aNodeAt(10)) : aList(10);
  const watch = async ({ plural }: Resource<KubeObject>, { signal }: WatchOptions) =>
    (plural === nodes.plural ? stream : new ScriptedStream()).open(signal);
  const client = Object.assign(script, { list, watch }) as unknown as KubeClient;
  const changes: ClusterChange[] = [];
  const outside = { client, clock, log: silentLogger, onChange: (change: ClusterChange) => void changes.push(change) };
  const connection = new Connection({
    id: conn(1),
    config: { server: "https://api.example.org", compress: false },
    ...outside,
  });
  opened.push(connection);
  connection.start();
  await clock.settle();
  const hear = async (node: NodeObject): Promise<readonly ClusterChange[]> => {
    changes.length = 0;
    stream.send(modified(node));
    await clock.settle();
    return [...changes];
  };
  const listed = () => {
    const { nodes: seen } = connection.view();
    return seen.state === "known" ? seen.items : undefined;
  };
  return { hear, listed };
}

describe("what a node says", () => {
  it("of its life is no news, and leaves the list of nodes the same", async () => {
    const { hear, listed } = await aConnection();
    const before = listed();
    expect(before).toMatchObject([{ name: "n", key: "k" }]);
    expect(await hear(aNodeAt(11, { [nodeAnnotations.lastSeen]: "1" }))).toEqual([]);
    expect(await hear(aNodeAt(12, { [nodeAnnotations.lastSeen]: "2" }))).toEqual([]);
    expect(listed()).toBe(before);
  });

  it("of others it has met is observed, and leaves the list of nodes the same", async () => {
    const { hear, listed } = await aConnection();
    const before = listed();
    const met = JSON.stringify({ [aKey("c2-n0")]: { IP: "192.0.2.1", Port: 1 } });
    expect(await hear(aNodeAt(11, { [nodeAnnotations.discovered]: met }))).toEqual(["observed"]);
    expect(listed()).toBe(before);
  });

  it("of itself is news of a node, in a new list", async () => {
    const { hear, listed } = await aConnection();
    const before = listed();
    expect(await hear(aNodeAt(11, { [nodeAnnotations.wireguardIp]: "10.4.0.1/16" }))).toEqual(["node"]);
    expect(listed()).not.toBe(before);
    expect(listed()).toMatchObject([{ name: "n", key: "k", wireguardIp: "10.4.0.1/16" }]);
  });
});

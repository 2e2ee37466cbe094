import { afterEach, describe, expect, it } from "vitest";
import { aKey, conn } from "../../test/support/build.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import {
  aKubeError,
  aList,
  deleted,
  modified,
  ScriptedClient,
  ScriptedStream,
} from "../../test/support/scripted-client.ts";
import { type NodeObject, nodes } from "../api/kilo-node.ts";
import type { PeerObject } from "../api/kilo-peer.ts";
import { nodeAnnotations } from "../api/names.ts";
import type { PeerName } from "../core/ids.ts";
import type { KubeClient, WatchOptions } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
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
async function aConnection({ unwatched = [] }: { readonly unwatched?: readonly string[] } = {}) {
  const [clock, script] = [new FakeClock(), new ScriptedClient()];
  const streams = { nodes: new ScriptedStream(), peers: new ScriptedStream() };
  const list = async ({ plural }: Resource<KubeObject>) =>
    plural === nodes.plural ? aList(10, aNodeAt(10)) : aList(10);
  const watch = async ({ plural }: Resource<KubeObject>, { signal }: WatchOptions) => {
    if (unwatched.includes(plural)) throw aKubeError("forbidden", "watch");
    return streams[plural as keyof typeof streams].open(signal);
  };
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
  const say = async (what: keyof typeof streams, event: object): Promise<void> => {
    streams[what].send(event);
    await clock.settle();
  };
  const hear = async (what: keyof typeof streams, object: KubeObject): Promise<readonly ClusterChange[]> => {
    changes.length = 0;
    await say(what, modified(object));
    return [...changes];
  };
  const listed = () => {
    const { nodes: seen } = connection.view();
    return seen.state === "known" ? seen.items : undefined;
  };
  return { connection, changes, say, hear, listed };
}

describe("what a node says", () => {
  it("of its life is no news, and leaves the list of nodes the same", async () => {
    const { hear, listed } = await aConnection();
    const before = listed();
    expect(before).toMatchObject([{ name: "n", key: "k" }]);
    expect(await hear("nodes", aNodeAt(11, { [nodeAnnotations.lastSeen]: "1" }))).toEqual([]);
    expect(await hear("nodes", aNodeAt(12, { [nodeAnnotations.lastSeen]: "2" }))).toEqual([]);
    expect(listed()).toBe(before);
  });

  it("of others it has met is observed, and leaves the list of nodes the same", async () => {
    const { hear, listed } = await aConnection();
    const before = listed();
    const met = JSON.stringify({ [aKey("c2-n0")]: { IP: "192.0.2.1", Port: 1 } });
    expect(await hear("nodes", aNodeAt(11, { [nodeAnnotations.discovered]: met }))).toEqual(["observed"]);
    expect(listed()).toBe(before);
  });

  it("of itself is news of a node, in a new list", async () => {
    const { hear, listed } = await aConnection();
    const before = listed();
    expect(await hear("nodes", aNodeAt(11, { [nodeAnnotations.forceEndpoint]: "192.0.2.1:7" }))).toEqual(["node"]);
    expect(listed()).not.toBe(before);
    expect(listed()).toMatchObject([{ name: "n", key: "k", forceEndpoint: "192.0.2.1:7" }]);
  });

  it.each<[string, Partial<NodeObject>]>([
    ["an address", { status: { addresses: [{ type: "InternalIP", address: "172.16.0.1" }] } }],
    ["a public address", { status: { addresses: [{ type: "ExternalIP", address: "203.0.113.1" }] } }],
    ["a pod CIDR", { spec: { podCIDRs: ["10.1.0.0/24"] } }],
    ["a WireGuard IP", { metadata: aNodeAt(11, { [nodeAnnotations.wireguardIp]: "10.4.0.1/16" }).metadata }],
  ])("of %s is news for its own cluster too", async (_, said) => {
    const { hear } = await aConnection();
    expect(await hear("nodes", { ...aNodeAt(11), ...said })).toEqual(["ground"]);
    const { metadata, ...rest } = { ...aNodeAt(11), ...said };
    const beat = { ...metadata.annotations, [nodeAnnotations.lastSeen]: "2" };
    const again: NodeObject = { ...rest, metadata: { ...metadata, resourceVersion: "12", annotations: beat } };
    expect(await hear("nodes", again)).toEqual([]);
  });
});

describe("a cluster in which watching is forbidden", () => {
  it("is known, and says what is listed again and again instead", async () => {
    const { connection, changes, listed } = await aConnection({ unwatched: ["nodes", "peers"] });
    expect(listed()).toHaveLength(1);
    expect(connection.view().polled).toEqual(["nodes", "peers.kilo.squat.ai"]);
    expect(changes.at(-1)).toBe("knowledge");
    const one = await aConnection({ unwatched: ["peers"] });
    expect(one.connection.view().polled).toEqual(["peers.kilo.squat.ai"]);
    const none = await aConnection();
    expect(none.connection.view()).not.toHaveProperty("polled");
  });
});

describe("a Peer that we write", () => {
  const name = "p" as PeerName;
  const aPeerAt = (version: number): PeerObject => ({
    apiVersion: "kilo.squat.ai/v1alpha1",
    kind: "Peer",
    metadata: { name, uid: "u", resourceVersion: String(version) },
    spec: { publicKey: aKey("p"), allowedIPs: [`10.0.0.${version}/32`] },
  });

  it("is told as written, whether the answer is faster or the watch", async () => {
    const { connection, changes, hear } = await aConnection();
    changes.length = 0;
    await connection.writePeer(name, async () => aPeerAt(11));
    expect(changes).toEqual(["written"]);
    expect(await hear("peers", aPeerAt(11))).toEqual([]);
    const told: ClusterChange[] = [];
    await connection.writePeer(name, async () => {
      told.push(...(await hear("peers", aPeerAt(12))));
      return aPeerAt(12);
    });
    expect(told).toEqual(["written"]);
  });

  it("is told as any other when somebody writes it later, or when our write was refused", async () => {
    const { connection, hear } = await aConnection();
    await connection.writePeer(name, async () => aPeerAt(11));
    expect(await hear("peers", aPeerAt(12))).toEqual(["peer"]);
    const refused = connection.writePeer(name, () => Promise.reject(new Error("refused")));
    await expect(refused).rejects.toThrow("refused");
    expect(await hear("peers", aPeerAt(13))).toEqual(["peer"]);
  });

  it("says since when writing is forbidden there, until one is written", async () => {
    const { connection } = await aConnection();
    const facts = { cluster: "c", verb: "create", resource: "peers", status: 403 } as const;
    const refused = (kind: "forbidden" | "conflict") => () => Promise.reject(new KubeError({ ...facts, kind }));
    await expect(connection.writePeer(name, refused("conflict"))).rejects.toThrow();
    expect(connection.view().forbiddenAtMs).toBeUndefined();
    await expect(connection.writePeer(name, refused("forbidden"))).rejects.toThrow();
    expect(connection.view().forbiddenAtMs).toBeTypeOf("number");
    await connection.writePeer(name, async () => aPeerAt(11));
    expect(connection.view().forbiddenAtMs).toBeUndefined();
    await expect(connection.deletePeer({ name, resourceVersion: "11" }, refused("forbidden"))).rejects.toThrow();
    expect(connection.view().forbiddenAtMs).toBeTypeOf("number");
  });

  it("and that goes is told as written too", async () => {
    const { connection, changes } = await aConnection();
    await connection.writePeer(name, async () => aPeerAt(11));
    changes.length = 0;
    await connection.deletePeer({ name, resourceVersion: "11" }, async () => undefined);
    expect(changes).toEqual(["written"]);
    expect(connection.peer(name)).toBeUndefined();
  });

  it("that goes and that somebody creates anew before our answer comes stays in sight", async () => {
    const { connection, hear, say } = await aConnection();
    await connection.writePeer(name, async () => aPeerAt(11));
    await connection.deletePeer({ name, resourceVersion: "11" }, async () => {
      await say("peers", deleted(aPeerAt(12)));
      await hear("peers", { ...aPeerAt(13), metadata: { name, uid: "another", resourceVersion: "13" } });
    });
    expect(connection.peer(name)?.metadata.uid).toBe("another");
  });
});

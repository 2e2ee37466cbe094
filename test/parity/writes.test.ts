import { afterEach, describe, expect, it, vi } from "vitest";
import { nodes } from "../../src/api/kilo-node.ts";
import { type PeerObject, renderPeer } from "../../src/api/kilo-peer.ts";
import type { PeerChange } from "../../src/core/diff.ts";
import type { PeerName } from "../../src/core/ids.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { KubeErrorKind } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { applyChanges } from "../../src/operator/apply.ts";
import { Connection } from "../../src/registry/connection.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { aMesh, aNode, aView, aWorld, conn, planOf } from "../support/build.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { aKubeError, aList, ScriptedClient, ScriptedStream } from "../support/scripted-client.ts";

const views = [aView([aNode(1, 0), aNode(1, 1), aNode(1, 2)]), aView([aNode(2, 0)])];
const wanted = planOf(aWorld({ meshes: [aMesh(2)], views }), 2).peers;
const stored = (index: number): PeerObject => {
  const peer = wanted[index];
  if (!peer) throw new Error("unreachable");
  const object = renderPeer(peer, "me");
  return { ...object, metadata: { ...object.metadata, uid: `u${index}`, resourceVersion: "5" } };
};

const opened: Connection[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((connection) => connection.stop()));
});

/** A cluster that holds the first two Peers and refuses every write in one way. */
async function clusterThatSays(kind: KubeErrorKind): Promise<Connection> {
  const script = new ScriptedClient();
  script.willWatch(() => new ScriptedStream());
  const refuse = async (): Promise<never> => {
    throw aKubeError(kind, "replace");
  };
  const list = async (resource: Resource<KubeObject>) =>
    resource.plural === nodes.plural ? aList(5) : aList(5, stored(0), stored(1));
  const client = Object.assign(script, { list, create: refuse, replace: refuse, delete: refuse }) as KubeClient;
  const outside = { client, clock: new FakeClock(), log: silentLogger, onChange: () => undefined };
  const config = { server: "https://api.example.org", compress: false };
  const connection = new Connection({ id: conn(2), config, ...outside });
  opened.push(connection);
  connection.start();
  await vi.waitFor(() => expect(connection.view().peers.state).toBe("known"));
  return connection;
}

/** One creation, one update and one deletion. */
function changesIn(connection: Connection): PeerChange[] {
  const { peers } = connection.view();
  const [first, second] = peers.state === "known" ? peers.items : [];
  const [one, , three] = wanted;
  if (!first || !second || !one || !three) throw new Error("unreachable");
  return [
    { action: "create", peer: three },
    { action: "update", peer: one, held: first },
    { action: "delete", held: second },
  ];
}

describe("a write that meets another writer", () => {
  it.each<[KubeErrorKind, string[]]>([
    ["already-exists", ["create c1-n2", "update c1-n0", "delete c1-n1"]],
    ["conflict", ["create c1-n2", "update c1-n0", "delete c1-n1"]],
    ["not-found", ["create c1-n2", "update c1-n0"]],
  ])("is told as %s and stops no other; a Peer that is gone already is deleted", async (kind, expected) => {
    const connection = await clusterThatSays(kind);
    const refusals = await applyChanges(changesIn(connection), { connection, instance: "me", log: silentLogger });
    expect(refusals.map(({ text }) => text)).toEqual(
      expected.map((text) => `${text.replace(" ", " my-mesh--c1--")}: ${kind}`),
    );
  });

  it("lists the Peers anew when nothing can be created, for then the type is gone", async () => {
    const connection = await clusterThatSays("not-found");
    const lists = (): number =>
      connection.summary().informers.find(({ resource }) => resource === "peers.kilo.squat.ai")?.lists ?? 0;
    const before = lists();
    const [create, update] = changesIn(connection);
    const apply = (...changes: (PeerChange | undefined)[]) =>
      applyChanges(
        changes.flatMap((change) => change ?? []),
        { connection, instance: "me", log: silentLogger },
      );
    await apply(update);
    expect(lists()).toBe(before);
    await apply(create);
    await vi.waitFor(() => expect(lists()).toBe(before + 1));
  });

  it("is not begun on the word of an object that has changed since it was judged", async () => {
    const connection = await clusterThatSays("conflict");
    const changes = changesIn(connection);
    const { metadata } = stored(0);
    const changed = { ...stored(0), metadata: { ...metadata, resourceVersion: "6" } };
    await connection.writePeer(metadata.name as PeerName, async () => changed);
    const [, refusal] = await applyChanges(changes, { connection, instance: "me", log: silentLogger });
    expect(refusal?.text).toBe("update my-mesh--c1--c1-n0: changed meanwhile");
  });
});

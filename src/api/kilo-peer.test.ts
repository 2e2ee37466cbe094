import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, planOf } from "../../test/support/build.ts";
import { samePeer } from "../core/peer.ts";
import { objectOf, type PeerObject, readPeer, renderKept, renderPeer } from "./kilo-peer.ts";
import { annotations } from "./names.ts";

const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)])];
const [peer] = planOf(aWorld({ meshes: [aMesh(2, { persistentKeepalive: 25 })], views }), 2).peers;
if (!peer) throw new Error("unreachable");

function labelled(object: PeerObject, labels: Readonly<Record<string, string>>): PeerObject {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } };
}

function noted(object: PeerObject, notes: Readonly<Record<string, string>>): PeerObject {
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...notes } } };
}

describe("a Peer object", () => {
  it("says that its deletion was asked for", () => {
    const { metadata, ...object } = renderPeer(peer, "me");
    const deleted = { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["theirs"] };
    expect(readPeer({ ...object, metadata: deleted })).toMatchObject({ isTerminating: true });
    expect(readPeer({ ...object, metadata })).not.toHaveProperty("isTerminating");
  });

  it("says what was planned, in Kilo's shape and with the Go operator's labels", () => {
    expect(renderPeer(peer, "me")).toMatchObject({
      apiVersion: "kilo.squat.ai/v1alpha1",
      kind: "Peer",
      metadata: {
        name: "my-mesh--c1--c1-n0",
        labels: {
          "kilo-clustermesh.io/mesh": "my-mesh",
          "kilo-clustermesh.io/source-cluster": "c1",
          "kilo-clustermesh.io/instance": "me",
        },
        annotations: {
          "kilo-clustermesh.io/owners": "kilo-system/my-mesh",
          "kilo-clustermesh.io/source-node": "c1-n0",
        },
      },
      spec: {
        allowedIPs: ["10.1.0.0/24", "10.200.1.1/32"],
        endpoint: { dnsOrIP: { ip: "198.51.100.10" }, port: 51820 },
        persistentKeepalive: 25,
      },
    });
  });

  it("read back is the same Peer", () => {
    expect(samePeer(peer, readPeer(renderPeer(peer, "me")))).toBe(true);
  });

  it("is remembered without the object where we have read all of it, and an update still has the whole", () => {
    const rendered = renderPeer(peer, "me");
    const metadata = { ...rendered.metadata, uid: "u", resourceVersion: "7" };
    const served = { ...rendered, metadata: { ...metadata, generation: 1, creationTimestamp: "2026-01-01T00:00:00Z" } };
    const held = readPeer(served);
    expect(objectOf(held)).toEqual({ ...rendered, metadata });
    expect(objectOf(held)).not.toBe(objectOf(held));
  });

  it.each([
    ["a label", (object: PeerObject) => ({ ...object, metadata: { ...object.metadata, labels: { mine: "1" } } })],
    ["a preshared key", (object: PeerObject) => ({ ...object, spec: { ...object.spec, presharedKey: "psk" } })],
    ["a finalizer", (object: PeerObject) => ({ ...object, metadata: { ...object.metadata, finalizers: ["x/y"] } })],
    ["a label called as a field of the server's", (object: PeerObject) => labelled(object, { generation: "1" })],
    ["an owner's list in other words", (object: PeerObject) => noted(object, { [annotations.owners]: "a/b,," })],
    ["a field beside the spec", (object: PeerObject) => ({ ...object, status: {} })],
  ])("with %s of somebody else is remembered whole", (_, add) => {
    const object = add(renderPeer(peer, "me"));
    const held = readPeer(object);
    expect(objectOf(held)).toEqual(object);
    expect(objectOf(held)).toBe(objectOf(held));
  });

  it("has the marks of a move while it lasts, and says what the node said only where it matters", () => {
    const notes = (object: PeerObject) => object.metadata.annotations ?? {};
    const marked = renderPeer({ ...peer, declared: "192.0.2.1:7", move: "waiting 192.0.2.2:7" }, "me");
    expect(notes(marked)).toMatchObject({
      "kilo-clustermesh.io/declared-endpoint": "192.0.2.1:7",
      "kilo-clustermesh.io/move": "waiting 192.0.2.2:7",
    });
    expect(readPeer(marked)).toMatchObject({ declared: "192.0.2.1:7", move: "waiting 192.0.2.2:7" });
    expect(Object.keys(notes(renderPeer(peer, "me", marked))).sort()).toEqual([
      "kilo-clustermesh.io/owners",
      "kilo-clustermesh.io/source-node",
    ]);
  });

  it("that is only kept changes its routes, and gets back the keepalive that a move took from it", () => {
    const object = renderPeer({ ...peer, keepaliveSeconds: 0, move: "dropped 192.0.2.2:7" }, "me");
    const kept = renderKept(object, ["10.1.0.0/24"]);
    expect(kept.spec).toEqual({ ...object.spec, allowedIPs: ["10.1.0.0/24"], persistentKeepalive: 25 });
    expect(kept.metadata.annotations).toMatchObject({ "kilo-clustermesh.io/move": "waiting 192.0.2.2:7" });
    const still = renderPeer(peer, "me");
    expect(renderKept(still, ["10.1.0.0/24"])).toEqual({
      ...still,
      spec: { ...still.spec, allowedIPs: ["10.1.0.0/24"] },
    });
  });

  it("carries over what somebody else put on it", () => {
    const before: PeerObject = {
      ...renderPeer(peer, "me"),
      metadata: {
        name: peer.name,
        resourceVersion: "7",
        uid: "u",
        labels: { theirs: "x" },
        annotations: { note: "y" },
      },
      spec: { allowedIPs: [], publicKey: "old", presharedKey: "psk", persistentKeepalive: 5 },
    };
    const after = renderPeer({ ...peer, keepaliveSeconds: 0 }, "me", before);
    expect(after.metadata).toMatchObject({ resourceVersion: "7", labels: { theirs: "x" }, annotations: { note: "y" } });
    expect(after.spec.presharedKey).toBe("psk");
    expect(after.spec.persistentKeepalive).toBeUndefined();
  });
});

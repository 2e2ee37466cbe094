import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, planOf } from "../../test/support/build.ts";
import { samePeer } from "../core/peer.ts";
import { type PeerObject, readPeer, renderPeer } from "./kilo-peer.ts";

const views = [aView([aNode(1, 0)]), aView([aNode(2, 0)])];
const [peer] = planOf(aWorld({ meshes: [aMesh(2, { persistentKeepalive: 25 })], views }), 2).peers;
if (!peer) throw new Error("unreachable");

describe("a Peer object", () => {
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
    expect(samePeer(peer, readPeer(renderPeer(peer, "me")).held)).toBe(true);
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

import { ok } from "node:assert/strict";
import { events } from "../../src/kube/event-object.ts";
import { expectNoDeletion, expectPeerWrites } from "./costs.ts";
import { aMesh, anEntry, meshSpec } from "./facts.ts";
import { untilSaid, untilUnknown } from "./said.ts";
import { story } from "./story.ts";
import { peersOf, untilGone } from "./teardown-stories.ts";

const secret = "cluster-b-kubeconfig";

export const secretStories = [
  story("a Secret is deleted and put back: nothing is written for it", async (stage) => {
    const mesh = await stage.begin();
    await stage.deleteSecret(mesh, secret);
    await untilUnknown(stage, mesh, { cluster: "cluster-b", reason: "SecretMissing", person: true });
    await stage.heard();
    await stage.holds();
    await stage.putSecret(mesh, secret, "b");
    await stage.synced();
    await expectPeerWrites(stage, 0);
  }),

  story("a Secret gives way to one of another name: nothing is written, and the ledger forgets it", async (stage) => {
    const mesh = await stage.begin();
    await stage.deleteSecret(mesh, secret);
    await untilUnknown(stage, mesh, { cluster: "cluster-b", reason: "SecretMissing", person: true });
    const entries = [anEntry("a"), anEntry("b", { secret: "renamed" }), anEntry("c")];
    await stage.applyMesh(aMesh(["a", "b", "c"], { entries }));
    await stage.synced();
    await expectPeerWrites(stage, 0);
  }),

  story("a Secret arrives after its mesh: the rest of the mesh does not wait for it", async (stage) => {
    await stage.furnish();
    const mesh = aMesh(["a", "b", "c"]);
    await stage.applyMesh(aMesh(["a", "c"]));
    await stage.synced();
    await stage.mark();
    await stage.writeSpec(mesh, meshSpec(mesh));
    await untilUnknown(stage, mesh, { cluster: "cluster-b", reason: "SecretMissing", person: true });
    await stage.holds();
    await stage.applyMesh(mesh);
    await stage.synced();
    await expectPeerWrites(stage, 8);
  }),

  story("a Secret breaks and is corrected: nothing is written for it", async (stage) => {
    const mesh = await stage.begin();
    await stage.writeSecret(mesh, secret, "clusters: [");
    await untilUnknown(stage, mesh, { cluster: "cluster-b", reason: "KubeconfigInvalid", person: true });
    await stage.addNode("a", 3);
    await stage.eventually(() => stage.holds({ clusters: ["a", "c"] }));
    await stage.putSecret(mesh, secret, "b");
    await stage.synced();
    await expectPeerWrites(stage, 2);
    await expectNoDeletion(stage);
  }),

  story("a credential is exchanged: no restart, no write, no lost event", async (stage) => {
    const mesh = await stage.begin();
    const old = await stage.putSecret(mesh, secret, "b");
    await stage.settled();
    await stage.mark();
    await stage.putSecret(mesh, secret, "b");
    await stage.eventually(async () => {
      const { requests } = await stage.costs();
      if (!requests.includes("b list nodes")) throw new Error("not connected again");
    });
    await old.revoke();
    await stage.synced();
    await expectPeerWrites(stage, 0);
    await stage.addNode("b", 3);
    await stage.addNode("a", 3);
    await stage.synced();
    await expectPeerWrites(stage, 4);
  }),

  story("a token expires and a new one arrives: nothing is written for it", async (stage) => {
    const mesh = await stage.begin();
    const ending = await stage.putEndingSecret(mesh, secret, "b");
    await untilSaid(stage, mesh, {
      Ready: { status: "True", reason: "Synced" },
      Degraded: { status: "True", reason: "CredentialEnded", message: "CredentialEnded: cluster-b at " },
    });
    await stage.mark();
    await ending.refused();
    // An open watch outlives its token.
    await stage.takeAway("b");
    await stage.bringBack("b");
    await untilUnknown(stage, mesh, { cluster: "cluster-b", reason: "Unauthorized", person: true });
    await stage.holds();
    await stage.putSecret(mesh, secret, "b");
    await stage.synced();
    await expectPeerWrites(stage, 0);
  }),

  story("a credential is revoked and another one arrives: nothing is written for it", async (stage) => {
    const mesh = await stage.begin();
    const old = await stage.putSecret(mesh, secret, "b");
    await stage.settled();
    await stage.mark();
    await old.revoke();
    await stage.takeAway("b");
    await stage.bringBack("b");
    await untilUnknown(stage, mesh, { cluster: "cluster-b", reason: "Unauthorized", person: true });
    await stage.holds();
    await stage.putSecret(mesh, secret, "b");
    await stage.synced();
    await expectPeerWrites(stage, 0);
  }),

  story(
    "a Secret leads to another cluster: the old one is emptied, the new one takes its place",
    async (stage) => {
      const mesh = await stage.begin(["a", "b"]);
      for (const index of [1, 2]) {
        await stage.deleteNode(`cluster-c-${index}`);
        await stage.addNode("c", index, { podCIDR: `10.2.${10 + index}.0/24`, wireguardIp: `10.200.2.${10 + index}` });
      }
      const allow = await stage.refusePeers("b", "delete");
      await stage.putSecret(mesh, secret, "c");
      const entries = [anEntry("a"), { ...anEntry("b"), cluster: "c" as const }];
      stage.assume({ meshes: [{ ...mesh, entries }] });
      await untilSaid(stage, mesh, {
        Accepted: { status: "True", reason: "Valid" },
        Degraded: { status: "True", reason: "ClusterReplaced", message: "ClusterReplaced: cluster-b, cluster-b" },
        WithdrawalHeld: {
          status: "True",
          reason: "WithdrawalHeld",
          message: "cluster-a: my-mesh--cluster-b--cluster-b-1",
        },
      });
      await allow();
      await stage.synced();
      // Four of the old cluster go, four of the new one come, and one of those takes over the cluster-wide networks.
      await expectPeerWrites(stage, 9);
    },
    { refused: ["b delete peers"] },
  ),

  story(
    "a Secret leads to another cluster, and another operator deletes the mesh: what the old one may hold is told",
    async (stage) => {
      const mesh = await stage.begin(["a", "b"]);
      const allow = await stage.refusePeers("b", "delete");
      await stage.putSecret(mesh, secret, "c");
      await untilSaid(stage, mesh, {
        Degraded: { status: "True", reason: "NodesSkipped", message: "ClusterReplaced" },
      });
      await stage.stopOperator();
      await stage.deleteMesh(mesh);
      await stage.startOperator();
      await untilGone(stage, mesh);
      const note = "Peers may be left in cluster-b (where its Secret led before)";
      await stage.eventually(async () => {
        const { items } = await stage.admin("a").list(events, { namespace: mesh.namespace });
        ok(
          items.some((event) => event.reason === "PeersLeft" && event.note.startsWith(note)),
          JSON.stringify(items),
        );
      });
      await allow();
      stage.assume({ foreign: { b: peersOf("my-mesh", "a") } });
      await stage.holds();
    },
    { refused: ["b delete peers"] },
  ),
];

import { expectPeerWrites } from "./costs.ts";
import { anEntry } from "./facts.ts";
import { story } from "./story.ts";

/** True stories that the operator does not live up to yet: `npm run stories -- --pending`. */
export const pendingStories = [
  story("a Secret leads to another cluster: the old one is emptied, the new one takes its place", async (stage) => {
    const mesh = await stage.begin(["a", "b"]);
    for (const index of [1, 2]) {
      await stage.deleteNode(`cluster-c-${index}`);
      await stage.addNode("c", index, { podCIDR: `10.2.${10 + index}.0/24`, wireguardIp: `10.200.2.${10 + index}` });
    }
    await stage.putSecret(mesh, "cluster-b-kubeconfig", "c");
    const entries = [anEntry("a"), { ...anEntry("b"), cluster: "c" as const }];
    stage.assume({ meshes: [{ ...mesh, entries }] });
    await stage.synced();
    await expectPeerWrites(stage, 8);
  }),
];

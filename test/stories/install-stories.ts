import { equal, ok } from "node:assert/strict";
import { clusterMeshCrd, conforms, customResourceDefinitions } from "../../src/api/crd.ts";
import { leaseName } from "../../src/api/names.ts";
import { isKubeError } from "../../src/kube/errors.ts";
import { leases } from "../../src/kube/resource.ts";
import { expectPeerWrites } from "./costs.ts";
import { aMesh, homeNamespace, letters } from "./facts.ts";
import type { Stage } from "./stage.ts";
import { story } from "./story.ts";

const definition = { name: clusterMeshCrd().metadata.name };

async function withoutDefinition(stage: Stage): Promise<void> {
  const admin = stage.admin("a");
  const unlessGone = (error: unknown): undefined => {
    if (!isKubeError(error, "not-found")) throw error;
    return undefined;
  };
  await admin.delete(customResourceDefinitions, definition).catch(unlessGone);
  await stage.eventually(async () => {
    const found = await admin.get(customResourceDefinitions, definition).catch(unlessGone);
    if (found) throw new Error("the definition is still there");
  });
}

async function holderOf(stage: Stage): Promise<string> {
  const lease = await stage.admin("a").get(leases, { namespace: homeNamespace, name: leaseName });
  return (lease as { spec?: { holderIdentity?: string } }).spec?.holderIdentity ?? "";
}

/** Ten seconds of a Lease are two of ours. */
const patientClock = { clockFactor: 5 };

export const installStories = [
  story("the definition is missing, then an old one: the operator writes it at its start", async (stage) => {
    await withoutDefinition(stage);
    await stage.furnish();
    await stage.stopOperator();
    const admin = stage.admin("a");
    await admin.patch(customResourceDefinitions, definition, { body: { spec: { names: { shortNames: ["old"] } } } });
    await stage.startOperator();
    await stage.eventually(async () => {
      const { spec } = await admin.get(customResourceDefinitions, definition);
      ok(conforms(spec, clusterMeshCrd().spec), "the old definition is still there");
    });
    await stage.applyMesh(aMesh(["a", "b"]));
    await stage.synced();
  }),

  story(
    "two replicas run: one works, the other waits for the Lease and takes over; the last gives it back",
    async (stage) => {
      for (const letter of letters) await stage.addNode(letter, 1);
      await stage.startReplica("first");
      await stage.applyMesh(aMesh(["a", "b"]));
      await stage.synced();
      equal(await holderOf(stage), "first");
      await stage.startReplica("second");
      await stage.mark();
      await stage.stopReplica("first");
      await stage.eventually(async () => equal(await holderOf(stage), "second"));
      await stage.addNode("b", 2);
      await stage.synced();
      await stage.stopReplica("second");
      equal(await holderOf(stage), "");
      await stage.startReplica("third");
      await stage.addNode("b", 3);
      await stage.synced();
      await expectPeerWrites(stage, 2);
    },
    patientClock,
  ),
];

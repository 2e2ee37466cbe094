import { equal } from "node:assert/strict";
import { untilReady } from "./costs.ts";
import { aMesh, anEntry, type MeshFacts, networksOf, otherNamespace } from "./facts.ts";
import type { Stage } from "./stage.ts";
import { story } from "./story.ts";

async function overlapOf(stage: Stage, mesh: MeshFacts): Promise<string> {
  const { status } = await stage.mesh(mesh);
  return status?.conditions?.find(({ type }) => type === "NetworksOverlap")?.status ?? "";
}

export const claimStories = [
  story("a second mesh claims a network that a first one has: the first loses nothing", async (stage) => {
    const first = await stage.begin(["a", "b"]);
    const before = stage.facts;
    const tenant = aMesh(["a"], {
      namespace: otherNamespace,
      name: "tenant",
      entries: [
        anEntry("a"),
        anEntry("c", { networks: { ...networksOf("c"), podCIDRs: ["10.2.0.0/16", "10.3.0.0/16"] } }),
      ],
    });
    await stage.addNode("c", 3, { podCIDR: "10.2.1.0/24" });
    await stage.applyMesh(tenant);
    await untilReady(stage, tenant, { reason: "ClaimHeld", message: "10.2.1.0/24 of cluster-c-3" });
    await stage.eventually(async () => equal(await overlapOf(stage, tenant), "True"));
    await stage.eventually(async () => equal(await overlapOf(stage, first), "True"));
    await stage.holds({ facts: before, clusters: ["b"] });
    equal((await stage.ready(first)).status, "True");
    await stage.deleteNode("cluster-c-3");
    await stage.applyMesh({ ...tenant, entries: [anEntry("a"), anEntry("c")] });
    await stage.synced();
    equal(await overlapOf(stage, first), "False");
  }),
];

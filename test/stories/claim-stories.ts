import { expectNoDeletion, expectPeerWrites } from "./costs.ts";
import { aMesh, anEntry, networksOf, otherNamespace } from "./facts.ts";
import { type Sayings, untilSaid } from "./said.ts";
import { story } from "./story.ts";

const overlapping = (message: string): Sayings => ({
  NetworksOverlap: { status: "True", reason: "CIDROverlap", message },
});

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
    const held = { reason: "ClaimHeld", message: "cluster-a: 10.2.1.0/24 of cluster-c-3" };
    await untilSaid(stage, tenant, {
      Accepted: { status: "True", reason: "Valid" },
      Ready: { status: "False", ...held },
      Degraded: { status: "True", ...held },
      ...overlapping("10.2.0.0/16 of cluster-c overlaps 10.2.0.0/16 of cluster-b of kilo-system/my-mesh"),
    });
    await untilSaid(stage, first, {
      Accepted: { status: "True", reason: "Valid" },
      Ready: { status: "True", reason: "Synced" },
      Degraded: { status: "False", reason: "AsDeclared" },
      ...overlapping("10.2.0.0/16 of cluster-b overlaps 10.2.0.0/16 of cluster-c of tenant/tenant"),
    });
    await stage.holds({ facts: before, clusters: ["b"] });
    await stage.deleteNode("cluster-c-3");
    await stage.applyMesh({ ...tenant, entries: [anEntry("a"), anEntry("c")] });
    await stage.synced();
  }),

  story("the mesh that has a network gives it up: the one that waits for it gets it", async (stage) => {
    const first = await stage.begin(["a", "b"]);
    const { serviceCIDR, ...networks } = networksOf("b");
    await stage.addNode("c", 3, { podCIDR: "10.102.3.0/24" });
    const podCIDRs = [...networksOf("c").podCIDRs, serviceCIDR];
    const entries = [anEntry("a"), anEntry("c", { networks: { ...networksOf("c"), podCIDRs } })];
    const tenant = aMesh(["a"], { namespace: otherNamespace, name: "tenant", entries });
    await stage.applyMesh(tenant);
    const held = { reason: "ClaimHeld", message: "cluster-a: 10.102.3.0/24 of cluster-c-3" };
    await untilSaid(stage, tenant, { Ready: { status: "False", ...held }, Degraded: { status: "True", ...held } });
    await stage.settled();
    await stage.mark();
    // Nobody touches the mesh that waits, nor its nodes.
    await stage.applyMesh({ ...first, entries: [anEntry("a"), anEntry("b", { networks })] });
    await stage.synced();
    await expectPeerWrites(stage, 2);
    await expectNoDeletion(stage);
  }),
];

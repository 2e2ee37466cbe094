import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deriveEndpointId } from "../../src/mesh-node/identity.ts";
import { eventually } from "../../test/support/eventually.ts";
import { areMeshed, documentsOf, haveDocuments, MeshBed, metricsOf, type Pod, put } from "./mesh-bed.ts";
import { describeInOwnNetwork } from "./own-network.ts";

const otherKey = Buffer.alloc(32, 6);
const observedMs = 30_000;
/** The pauses between dials double from half a second: more than this in 30 s would be hot. */
const mostDials = 8;

type Dials = Readonly<Record<string, number>>;

describeInOwnNetwork("nodes of a formation among strangers", import.meta.filename, () => {
  let bed: MeshBed;
  let ours: Pod[];
  let strangers: Pod[];
  let dialsBefore: readonly Dials[];

  beforeAll(async () => {
    bed = await MeshBed.start();
    ours = await Promise.all([0, 1, 2].map((n) => bed.startNode({ name: `peat-${n}`, ip: `10.44.0.1${n}` })));
    strangers = await Promise.all([
      bed.startNode({ name: "other-key", ip: "10.44.0.20", sharedKey: otherKey }),
      bed.startNode({ name: "other-formation", ip: "10.44.0.21", flags: ["--app-id", "another"] }),
      bed.startNode({ name: "declared", ip: "10.44.0.22", sharedKey: otherKey }),
      bed.startNode({ name: "peat-1", ip: "10.44.0.23", sharedKey: otherKey, dataOf: "forger" }),
      bed.startNode({ name: "peat-2", ip: "10.44.0.24", sharedKey: otherKey, dataOf: "usurper" }),
    ]);
    await put(ours[0] as Pod, "ours");
    for (const pod of strangers) await put(pod, "theirs");
    await bed.writeSlice("peat-1", "10.44.0.23");
    for (const { name, ip } of [...ours, ...strangers.slice(0, 2)]) await bed.pods.run(name, ip);
    await areMeshed(ours);
    await bed.writeSlice("peat-2", "10.44.0.24", { "peat.endpoint_id.peat-2": deriveEndpointId(otherKey, "peat-2") });
    await bed.writeSlice("ghost", "10.44.0.11");
    await bed.writeSlice("declared", "10.44.0.22", { "peat.endpoint_id": deriveEndpointId(otherKey, "declared") });
    for (const pod of ours)
      await eventually(async () => expect(Object.keys(await reasonsOf(pod)).sort()).toEqual(strangersTo(pod)));
    await areMeshed(ours);
    dialsBefore = await Promise.all(ours.map(dialsOf));
    await delay(observedMs);
  });

  afterAll(() => bed?.stop());

  /** The names under which a pod knows somebody who is not of its formation. */
  function strangersTo({ name }: Pod): string[] {
    return ["declared", "ghost", "other-formation", "other-key", ...(name === "peat-2" ? [] : ["peat-2"])];
  }

  test("have each other as peers and nobody else", async () => {
    await areMeshed(ours, 0);
    const known = new Set(ours.map(({ node }) => node.endpointId));
    const linked = ours.flatMap(({ node }) => node.lines()).filter(({ msg }) => msg === "link up");
    expect(linked.map(({ peer }) => peer).filter((peer) => !known.has(String(peer)))).toEqual([]);
  });

  test("give strangers no document and take none from them", async () => {
    await haveDocuments(ours, ["ours"]);
    for (const pod of ours) expect(await documentsOf(pod)).toEqual(["ours"]);
    for (const pod of strangers) expect(await documentsOf(pod)).toEqual(["theirs"]);
  });

  test.for([
    ["a pod with another key", "other-key", "OtherIdentity"],
    ["a pod of another formation", "other-formation", "FormationNotProven"],
    ["a node of another key whose id an annotation declares", "declared", "FormationNotProven"],
    ["a pod that is not there and that a forged slice names", "ghost", "OtherIdentity"],
  ] as const)("know why %s is not linked", async ([, name, reason]) => {
    const [first, , third] = ours as [Pod, Pod, Pod];
    for (const pod of [first, third]) expect(await reasonsOf(pod)).toMatchObject({ [name]: reason });
  });

  test("are linked to the right one where a forged slice puts a second address to its name", async () => {
    const [first, second] = ours as [Pod, Pod];
    const { peers } = await first.node.call("ListPeers");
    const linked = { endpointId: second.node.endpointId, addresses: [`${second.ip}:11204`] };
    expect(peers).toContainEqual(expect.objectContaining(linked));
  });

  test("keep the pod whose name an annotation gives to another key, for it proves who it is", async () => {
    const [first, , third] = ours as [Pod, Pod, Pod];
    expect(await reasonsOf(first)).toMatchObject({ "peat-2": "FormationNotProven" });
    const { peers } = await first.node.call("ListPeers");
    expect(peers).toContainEqual(expect.objectContaining({ endpointId: third.node.endpointId }));
  });

  test("say once what is wrong with each", () => {
    const known = new Set<unknown>(ours.map(({ node }) => node.endpointId));
    for (const pod of ours) {
      const said = pod.node
        .lines()
        .filter(({ level, peer }) => ["warn", "error"].includes(String(level)) && !known.has(peer));
      const texts = said.map(({ msg, peer, name, reason }) => [msg, peer, name, reason].join(" "));
      expect(new Set(said.map(({ name }) => name))).toEqual(new Set([undefined, ...strangersTo(pod)]));
      expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
    }
  });

  test("dial them less and less", async () => {
    for (const [n, pod] of ours.entries()) {
      const dials = await dialsOf(pod);
      const again = (reason: string) => (dials[reason] ?? 0) - (dialsBefore[n]?.[reason] ?? 0);
      const seconds = observedMs / 1000;
      console.log(`mesh: dials of ${pod.name} since its start: ${JSON.stringify(dials)}`);
      console.log(`mesh: in the last ${seconds} s, of 2 with another key: ${again("OtherIdentity")}`);
      expect(again("OtherIdentity")).toBeLessThanOrEqual(2 * mostDials);
      expect(again("FormationNotProven")).toBe(0);
    }
  });
});

/** Why each peer that is not linked is not, by its name. */
async function reasonsOf({ node }: Pod): Promise<Readonly<Record<string, unknown>>> {
  const { peers = [] } = await node.call("ListDiscoveredPeers");
  const seen = peers as { name?: string; reason?: string }[];
  return Object.fromEntries(seen.filter(({ reason }) => reason).map(({ name, reason }) => [name, reason]));
}

/** How many dials ended how. */
async function dialsOf(pod: Pod): Promise<Dials> {
  const samples = (await metricsOf(pod)).of("mesh_node_dials_total");
  return Object.fromEntries(samples.map(({ labels, value }) => [labels.outcome, value]));
}

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deriveEndpointId } from "../../src/mesh-node/identity.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { AuditEntry } from "../control-plane/audit.ts";
import { cutLink } from "./link-cut.ts";
import {
  areMeshed,
  documentsOf,
  haveDocuments,
  key,
  lifeOf,
  MeshBed,
  namespace,
  type Pod,
  peersOf,
  put,
  report,
} from "./mesh-bed.ts";
import { describeInOwnNetwork } from "./own-network.ts";

/** `--discovery-interval` of the chart: later than that no change may be felt. */
const intervalMs = 30_000;
const outageMs = 60_000;

describeInOwnNetwork("nodes in the pods of the chart, told of nobody", import.meta.filename, () => {
  let bed: MeshBed;
  let pods: Pod[] = [];
  let lives: string[];
  let askedBefore: AuditEntry[];
  const old = ["from-0", "from-1", "from-2"];

  beforeAll(async () => {
    bed = await MeshBed.start();
    pods = await Promise.all([0, 1, 2].map((n) => bed.startNode({ name: `peat-${n}`, ip: `10.44.0.1${n}` })));
    lives = await Promise.all(pods.map(lifeOf));
  });

  afterAll(() => bed?.stop());

  /** Waits until the slices say who is ready and the pods are a mesh, and prints how long after that. */
  async function isMeshAfter(what: string, sinceMs: number): Promise<void> {
    const eventMs = await bed.slices.readyAt(
      pods.map(({ ip }) => ip),
      sinceMs,
    );
    const meshedMs = await areMeshed(pods);
    report(`${what}, slice event → all list exactly the others:`, eventMs, meshedMs);
    expect(meshedMs - eventMs).toBeLessThan(intervalMs);
  }

  /** Resolves with the time when the pod is linked to this one alone. */
  async function hasOnly(pod: Pod, peer: Pod): Promise<number> {
    await eventually(async () => expect(await peersOf(pod)).toEqual([peer.node.endpointId]));
    return performance.now();
  }

  test("list exactly the other two each", async () => {
    const sinceMs = performance.now();
    for (const { name, ip } of pods) await bed.pods.run(name, ip);
    await isMeshAfter("3 pods", sinceMs);
    expect(pods.map(({ node }) => node.endpointId)).toEqual(pods.map(({ name }) => deriveEndpointId(key, name)));
  });

  test("read on all what is put on any", async () => {
    const sinceMs = performance.now();
    for (const [n, pod] of pods.entries()) await put(pod, `from-${n}`);
    report("3 documents put on 3 pods → read on all:", sinceMs, await haveDocuments(pods, old));
  });

  test("take in two more pods, and these have the old documents", async () => {
    const added = [3, 4].map((n) => ({ name: `peat-${n}`, ip: `10.44.0.1${n}` }));
    const joining = await Promise.all(added.map((wish) => bed.startNode(wish)));
    const sinceMs = performance.now();
    for (const { name, ip } of joining) await bed.pods.run(name, ip);
    pods = [...pods, ...joining];
    await isMeshAfter("3 → 5 pods", sinceMs);
    const eventMs = await bed.slices.readyAt(
      pods.map(({ ip }) => ip),
      sinceMs,
    );
    report("3 → 5 pods, slice event → old documents on the new pods:", eventMs, await haveDocuments(pods, old));
  });

  test("let go of pods that are scaled away, also of one that cannot say goodbye", async () => {
    const [polite, silent] = pods.splice(3) as [Pod, Pod];
    const politeMs = performance.now();
    await bed.endPod(polite);
    report("a pod that says goodbye, told to end → nobody lists it:", politeMs, await areMeshed([...pods, silent]));
    const silentMs = performance.now();
    await bed.endPod(silent, "SIGKILL");
    await isMeshAfter("5 → 3 pods, the last without a goodbye", silentMs);
  });

  test("link a pod that takes the place of another, with a new name and address", async () => {
    const [first, second, gone] = pods as [Pod, Pod, Pod];
    await bed.endPod(gone);
    const coming = await bed.startNode({ name: "peat-x7k2p", ip: "10.44.0.31" });
    const sinceMs = performance.now();
    await bed.pods.run(coming.name, coming.ip);
    pods = [first, second, coming];
    await isMeshAfter("a pod replaced", sinceMs);
    await haveDocuments(pods, old);
    expect(await documentsOf(coming)).toEqual(old);
  });

  test("link a pod that crashed and comes back with its name at another address", async () => {
    const [first, second, crashed] = pods as [Pod, Pod, Pod];
    await bed.endPod(crashed, "SIGKILL");
    await put(first, "meanwhile");
    const again = await bed.startNode({ name: crashed.name, ip: "10.44.0.32" });
    const sinceMs = performance.now();
    await bed.pods.run(again.name, again.ip);
    pods = [first, second, again];
    await isMeshAfter("the same name at another address", sinceMs);
    await haveDocuments(pods, [...old, "meanwhile"]);
    const { peers } = await first.node.call("ListDiscoveredPeers");
    const moved = { name: again.name, addresses: [`${again.ip}:11204`], state: "PEER_LINK_STATE_LINKED" };
    expect(peers).toContainEqual(expect.objectContaining(moved));
  });

  test("notice within 10 s that a link is cut, and heal it without a word from the API server", async () => {
    const [one, other, third] = pods as [Pod, Pod, Pod];
    const events = bed.slices.count;
    const heal = await cutLink(one.ip, other.ip);
    const cutMs = performance.now();
    try {
      await put(one, "unnoticed");
      for (const noticedMs of await Promise.all([one, other].map((pod) => hasOnly(pod, third)))) {
        report("link cut → not listed any more:", cutMs, noticedMs);
        expect(noticedMs - cutMs).toBeLessThan(10_000);
      }
      const sinceMs = performance.now();
      await put(one, "around");
      report("document put beside the cut → read on all:", sinceMs, await haveDocuments(pods, ["around"]));
    } finally {
      await heal();
    }
    report("link healed → linked again:", performance.now(), await areMeshed(pods, 60_000));
    await haveDocuments(pods, ["unnoticed"]);
    expect(bed.slices.count).toBe(events);
  });

  test("stay a mesh for the minute that the API server is away, and take in a new pod when it is back", async () => {
    const linesBefore = pods.map(({ node }) => node.lines().length);
    askedBefore = await askedOfServer();
    await bed.cluster.stopServer();
    const stoppedMs = performance.now();
    for (let n = 0; performance.now() < stoppedMs + outageMs; n++) {
      await put(pods[n % pods.length] as Pod, `outage-${n}`);
      await haveDocuments(pods, [`outage-${n}`]);
      await areMeshed(pods, 0);
      await delay(3_000);
    }
    for (const { node } of pods)
      expect(await node.call("ListDiscoveredPeers")).toMatchObject({ discoveryProblem: expect.any(String) });
    await bed.cluster.startServer();
    const backMs = performance.now();
    await eventually(async () => {
      for (const { node } of pods)
        expect(await node.call("ListDiscoveredPeers")).toMatchObject({ discoveryKnown: true });
    });
    report("API server back → all see it:", backMs, performance.now());
    const ended = pods.flatMap(({ node }, n) =>
      node
        .lines()
        .slice(linesBefore[n])
        .filter(({ msg }) => msg === "link down"),
    );
    expect(ended).toEqual([]);
    const joining = await bed.startNode({ name: "peat-5", ip: "10.44.0.15" });
    const sinceMs = performance.now();
    // The controller comes back from an outage when it likes, up to a minute later.
    await bed.writeSlice(joining.name, joining.ip);
    pods = [...pods, joining];
    await isMeshAfter("a pod after the outage", sinceMs);
  });

  test("have never been restarted, and asked for nothing but endpoint slices", async () => {
    expect(await Promise.all(pods.slice(0, 2).map(lifeOf))).toEqual(lives.slice(0, 2));
    const asked = await askedOfServer();
    const kinds = new Set(asked.map(({ verb, group, resource }) => `${verb} ${group} ${resource}`));
    const slices = "discovery.k8s.io endpointslices";
    expect([...kinds].sort()).toEqual([`list ${slices}`, `watch ${slices}`]);
    // A server that has just started may refuse what it allows a moment later.
    expect(new Set(askedBefore.map(({ code }) => code))).toEqual(new Set([200]));
  });

  async function askedOfServer(): Promise<AuditEntry[]> {
    return (await bed.cluster.audit()).filter(({ user }) => user.startsWith(`system:serviceaccount:${namespace}:`));
  }
});

import { isKubeError } from "../../src/kube/errors.ts";
import { namespaces } from "../../src/kube/resource.ts";
import { peerCrd } from "../../src/sandbox/kilo/peer-crd.ts";
import { homeNamespace, letters, otherNamespace } from "../../test/stories/facts.ts";
import type { Arena, Ring } from "../../test/stories/ring.ts";
import { eventually } from "../../test/support/eventually.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { createCrd } from "../control-plane/create-crd.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { RealRingCluster } from "./real-ring-cluster.ts";
import { type Rights, shippedRights } from "./rights.ts";
import { wipe } from "./wipe.ts";

/** Fast enough for graces of minutes, slow enough for a watch to be opened again within its two seconds. */
const clockFactor = 30;
/** A story mostly waits. */
const parallel = 2;

export interface RealRingOptions {
  readonly version?: "newest" | "oldest";
}

export interface RealRing extends Ring {
  /** The same servers for operators with other rights than those that we ship. */
  granting(rights: Rights): Ring;
}

/** Real API servers, three for each story that is played at once, emptied before every story. */
export async function startRealRing({ version = "newest" }: RealRingOptions = {}): Promise<RealRing> {
  const shipped = await shippedRights();
  const plane = await startControlPlane({ clusters: parallel * letters.length, audit: true, version });
  const sets = Array.from({ length: parallel }, (_, index) => placesOf(plane, index));
  const free = [...sets];
  const open = async (rights: Rights): Promise<Arena> => {
    const places = free.pop();
    if (!places) throw new Error(`more than ${parallel} stories at once`);
    // A server that was started again a moment ago may send the first requests away.
    await eventually(() => Promise.all(Object.values(places).map((place) => prepare(place, rights))));
    const clusters = { a: places.a.cluster, b: places.b.cluster, c: places.c.cluster };
    return { clusters, close: async () => void free.push(places) };
  };
  const stop = async (): Promise<void> => {
    for (const places of sets) for (const { cluster } of Object.values(places)) cluster.admin.close();
    await plane.stop();
  };
  const granting = (rights: Rights): Ring => ({
    name: "real",
    clockFactor,
    boundsTimes: true,
    parallel,
    open: () => open(rights),
    stop,
  });
  return { ...granting(shipped), granting: (rights) => ({ ...granting(rights), lacksRights: true }) };
}

interface Place {
  readonly real: RealCluster;
  readonly cluster: RealRingCluster;
}

function placesOf({ clusters }: ControlPlane, set: number): Record<(typeof letters)[number], Place> {
  const place = (letter: (typeof letters)[number]): Place => {
    const real = clusters[set * letters.length + letters.indexOf(letter)];
    if (!real) throw new Error(`no API server for cluster ${letter}`);
    return { real, cluster: new RealRingCluster(letter, real) };
  };
  return { a: place("a"), b: place("b"), c: place("c") };
}

async function prepare({ real, cluster }: Place, rights: Rights): Promise<void> {
  await cluster.startOver(rights);
  await wipe(cluster.admin);
  await createCrd(real.admin, peerCrd() as Parameters<typeof createCrd>[1]);
  for (const name of [homeNamespace, otherNamespace]) {
    await cluster.admin.create(namespaces, { metadata: { name } }).catch((error: unknown) => {
      if (!isKubeError(error, "already-exists")) throw error;
    });
  }
}

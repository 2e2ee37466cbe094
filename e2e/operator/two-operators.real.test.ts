import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { leaseName } from "../../src/api/names.ts";
import { eventually } from "../../test/support/eventually.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import {
  addNode,
  applyMesh,
  buildBundle,
  furnish,
  isLease,
  isWrite,
  namespace,
  type OperatorProcess,
  peerNamesIn,
  quickStart,
  startOperator,
} from "./real-mesh.ts";

const everything = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
const names = ["operator-one", "operator-two"] as const;
type Name = (typeof names)[number];

let plane: ControlPlane;
const operators = new Map<Name, OperatorProcess>();

/** Each runs as a user of its own, so that the audit log tells them apart. */
async function start(name: Name): Promise<void> {
  const [local] = plane.clusters;
  if (!local) throw new Error("no cluster");
  const file = join(plane.directory, `${name}.kubeconfig`);
  writeFileSync(file, await local.scopedKubeconfig({ name, clusterRoleRules: everything }));
  operators.set(name, await startOperator({ plane, kubeconfigFile: file, args: ["--leader-elect"] }));
}

async function holder(): Promise<Name | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaseName}`;
  const lease = await plane.clusters[0]?.requestJson<{ spec: { holderIdentity?: string } }>({ path });
  const identity = lease?.spec.holderIdentity ?? "";
  return names.find((name) => operators.get(name)?.log().includes("leading") && identityOf(name) === identity);
}

const identityOf = (name: Name): string => /"identity":"([^"]+)"/.exec(operators.get(name)?.log() ?? "")?.[1] ?? "";

beforeAll(async () => {
  await buildBundle();
  plane = await startControlPlane({ clusters: 2, audit: true });
  await furnish(plane, 2);
  await start("operator-one");
  await applyMesh(plane, quickStart(2));
  await start("operator-two");
  for (const cluster of plane.clusters) {
    await eventually(async () => expect(await peerNamesIn(cluster)).toHaveLength(2));
  }
}, 180_000);

afterAll(async () => {
  for (const { child } of operators.values()) {
    if (child.running) child.signal("SIGCONT");
    await child.stop();
  }
  await plane?.stop();
});

it("when the leader is frozen the other takes over, and the old one writes nothing when it thaws", async () => {
  const frozen = await eventually(async () => {
    const name = await holder();
    if (!name) throw new Error("nobody leads");
    return name;
  });
  const other = names.find((name) => name !== frozen) ?? frozen;
  const frozenAt = performance.now();
  operators.get(frozen)?.child.signal("SIGSTOP");
  await eventually(async () => expect(await holder()).toBe(other), { withinMs: 20_000 });
  const takeoverSeconds = (performance.now() - frozenAt) / 1000;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, 20_000 - (performance.now() - frozenAt))));

  const [local, remote] = plane.clusters;
  if (!local || !remote) throw new Error("no cluster");
  const thawedAt = new Date();
  operators.get(frozen)?.child.signal("SIGCONT");
  await addNode(local, 0, 5);
  await addNode(remote, 1, 5);
  for (const cluster of plane.clusters) {
    await eventually(async () => expect(await peerNamesIn(cluster)).toHaveLength(3));
  }
  // Long enough for the thawed one to run whatever it had begun.
  await new Promise((resolve) => setTimeout(resolve, 5000));
  const user = `system:serviceaccount:default:${frozen}`;
  const written = (await local.audit())
    .filter((entry) => entry.user === user && entry.timestamp >= thawedAt && isWrite(entry))
    .filter((entry) => !(isLease(entry) && entry.code === 409));
  expect(written.map(({ verb, uri, code }) => `${verb} ${uri} ${code}`)).toEqual([]);
  const peerWrites = (await Promise.all(plane.clusters.map((cluster) => cluster.audit())))
    .flat()
    .filter((entry) => entry.timestamp >= thawedAt && isWrite(entry) && entry.resource === "peers");
  expect(peerWrites.map(({ verb }) => verb)).toEqual(["create", "create"]);
  expect(await holder()).toBe(other);
  console.log(`takeover: ${takeoverSeconds.toFixed(1)} s after the leader was frozen; the old leader wrote nothing`);
}, 180_000);

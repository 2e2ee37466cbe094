import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clusterMeshes } from "../src/api/cluster-mesh.ts";
import { nodes } from "../src/api/kilo-node.ts";
import { secrets } from "../src/api/kubeconfig-secret.ts";
import { demoMeshRef } from "../src/cli/demo-mesh.ts";
import type { SandboxCluster } from "../src/sandbox/sandbox.ts";
import { eventually } from "./support/eventually.ts";
import { fastClock } from "./support/fast-clock.ts";
import { OperatedFleet } from "./support/operated-fleet.ts";

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const endsAt = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_600_000);
/** A bearer token that says when it ends: in an hour. */
const jwt = `${part({ alg: "none" })}.${part({ exp: endsAt.getTime() / 1000 })}.x`;

let fleet: OperatedFleet;

const cluster = (number: number): SandboxCluster => fleet.cluster(number);

beforeEach(async () => {
  fleet = await OperatedFleet.open({ clusters: 3, nodes: 2, clock: fastClock(60) });
  await fleet.operate();
  await fleet.join();
});
afterEach(() => fleet.stop());

const status = () => cluster(0).store.get(clusterMeshes, demoMeshRef).status;
const degraded = () => status()?.conditions?.find(({ type }) => type === "Degraded");

describe("the status of a mesh", () => {
  it("counts a link as up when a node of the other cluster reports the handshake", async () => {
    const upBefore = (status()?.clusters ?? []).map(({ links }) => links?.up);
    const [one] = cluster(0).store.list(nodes);
    const key = one?.metadata.annotations?.["kilo.squat.ai/key"] ?? "";
    const [reporter] = cluster(1).store.list(nodes);
    const discovered = JSON.stringify({ [key]: { IP: "203.0.113.9", Port: 51820, Zone: "" } });
    const annotations = { "kilo.squat.ai/discovered-endpoints": discovered };
    expect(upBefore[0]).toBe(0);
    cluster(1).store.patch(nodes, { name: reporter?.metadata.name ?? "" }, { metadata: { annotations } });
    await eventually(() => expect(status()?.clusters?.[0]?.links).toEqual({ up: 1, expected: 4 }));
    expect(status()?.summary?.links).toMatch(/^\d+\/12$/);
  });

  it("says when a credential ends, and that somebody has to see to it", async () => {
    cluster(1).addToken(jwt);
    const data = { kubeconfig: Buffer.from(cluster(1).kubeconfig({ token: jwt })).toString("base64") };
    const ref = { namespace: demoMeshRef.namespace, name: "cluster-b-kubeconfig" };
    cluster(0).store.patch(secrets, ref, { data });
    await eventually(() => expect(degraded()).toMatchObject({ status: "True", reason: "CredentialEnding" }));
    const expected = endsAt.toISOString().replace(".000Z", "Z");
    expect(status()?.clusters?.[1]?.credentialExpiresAt).toBe(expected);
    expect(degraded()?.message).toContain(`cluster-b at ${expected}`);
  });

  it("is not ready when Kilo has left every node of a cluster, and says what to do", async () => {
    const none = { "kilo.squat.ai/key": null, "kilo.squat.ai/wireguard-ip": null };
    for (const { metadata } of cluster(2).store.list(nodes))
      cluster(2).store.patch(nodes, { name: metadata.name }, { metadata: { annotations: none } });
    await eventually(() =>
      expect(status()?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
        status: "False",
        reason: "NodesSkipped",
      }),
    );
    expect(status()?.clusters?.[2]).toMatchObject({ skippedNodes: 2, message: expect.stringContaining("Kilo") });
  });
});

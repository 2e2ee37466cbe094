import { afterEach, beforeEach, expect, it } from "vitest";
import { type NodeObject, nodes } from "../src/api/kilo-node.ts";
import { peers } from "../src/api/kilo-peer.ts";
import { nodeAnnotations } from "../src/api/names.ts";
import { systemClock } from "../src/runtime/clock.ts";
import type { SandboxCluster } from "../src/sandbox/sandbox.ts";
import { eventually } from "./support/eventually.ts";
import { OperatedFleet } from "./support/operated-fleet.ts";

let fleet: OperatedFleet;

const cluster = (number: number): SandboxCluster => fleet.cluster(number);

beforeEach(async () => {
  fleet = await OperatedFleet.open({ clusters: 2, nodes: 2, clock: systemClock });
  await fleet.operate();
  await fleet.join();
});
afterEach(() => fleet.stop());

const routesThere = (): string[] =>
  cluster(1)
    .store.list(peers)
    .flatMap(({ spec }) => spec.allowedIPs);
const updates = () =>
  cluster(1).requests.all({ verb: "update", resource: "peers.kilo.squat.ai", userAgent: "operator" });

const addressOf = ({ metadata }: NodeObject): string =>
  metadata.annotations?.[nodeAnnotations.wireguardIp]?.split("/")[0] ?? "";

function sayAddress({ metadata }: NodeObject, address: string): void {
  const annotations = { [nodeAnnotations.wireguardIp]: `${address}/16` };
  cluster(0).store.patch(nodes, { name: metadata.name }, { metadata: { annotations } });
}

it("Kilo has time to digest that a Peer takes a route over before the other loses it", async () => {
  const [one, other] = cluster(0).store.list(nodes);
  if (!one || !other) throw new Error("two nodes are wanted");
  const before = updates().length;
  const moving = addressOf(other);
  const fresh = moving.replace(/\d+$/, "99");
  sayAddress(one, moving);
  sayAddress(other, fresh);
  await eventually(() => expect(routesThere()).toContain(`${fresh}/32`));
  const [taking, losing, ...more] = updates().slice(before);
  expect(routesThere().filter((route) => route === `${moving}/32`)).toHaveLength(1);
  expect(more).toEqual([]);
  expect((losing?.atMs ?? 0) - (taking?.atMs ?? 0)).toBeGreaterThan(150);
});

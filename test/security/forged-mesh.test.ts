import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostText } from "../../src/core/endpoint.ts";
import { meshId } from "../../src/core/ids.ts";
import { declaredNetworks } from "../../src/core/mesh.ts";
import { rangesOf } from "../../src/core/ranges.ts";
import { aKey, aNode } from "../support/build.ts";

import {
  aForger,
  aloneOf,
  aNewForger,
  aVictim,
  cidrs,
  forgeries,
  heldAfter,
  hostTextOf,
  hub,
  meshOf,
  observations,
  ofVictim,
  planFor,
  pretences,
  stored,
  tenantId,
  tenants,
  touchedOf,
  victims,
  visible,
} from "../support/hostile-tenant.ts";

describe("a tenant that forges its mesh too, for its own cluster and for the hub", () => {
  it("changes no Peer of another mesh, now or when its own Peers are there", () => {
    fc.assert(
      fc.property(aVictim, aForger, pretences, (mesh, tenant, { forged, seen }) => {
        const scene = { meshes: [mesh, tenant], forged, seen };
        const first = planFor(hub, { ...scene, held: stored(aloneOf(mesh)) });
        expect(touchedOf(first)).toEqual([]);
        expect(touchedOf(planFor(hub, { ...scene, held: heldAfter(first) }))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it.each(["the cluster cannot be reached", "the mesh is refused"])(
    "gains nothing from another mesh while %s",
    (what) => {
      fc.assert(
        fc.property(aVictim, aForger, pretences, (mesh, tenant, { forged, seen }) => {
          const scene = { meshes: [mesh, tenant], forged, seen };
          const absence =
            what === "the mesh is refused" ? { meshes: [tenant], refused: [mesh] } : { isVictimAway: true };
          const away = planFor(hub, { ...scene, held: stored(aloneOf(mesh)), ...absence });
          expect(touchedOf(away)).toEqual([]);
          expect(touchedOf(planFor(hub, { ...scene, held: heldAfter(away) }))).toEqual([]);
        }),
        { numRuns: 500 },
      );
    },
  );

  it("gets no Peer that covers anything but what it declares for itself, nor anything that is there already", () => {
    let covered = 0;
    fc.assert(
      fc.property(aVictim, aForger, pretences, (mesh, tenant, { forged, seen }) => {
        const { peers } = planFor(hub, { meshes: [mesh, tenant], forged, seen, held: stored(aloneOf(mesh)) });
        const entry = tenant.entries.find(({ name }) => name === "c3") ?? expect.unreachable();
        const own = entry.networks.form === "flat" ? forged.flatMap(({ internalIps }) => internalIps) : [];
        const may = rangesOf([...declaredNetworks(entry), ...cidrs(...own.map(hostTextOf))]);
        const hubs = cidrs(
          "10.1.0.0/24",
          "10.1.1.0/24",
          "10.200.1.1/32",
          "10.200.1.2/32",
          "172.16.1.1/32",
          "172.16.1.2/32",
        );
        const theirs = aloneOf(mesh).flatMap(({ routes, endpoint: at }) => [
          ...routes,
          ...cidrs(hostTextOf(hostText(at))),
        ]);
        const nobodys = cidrs("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3", "fe80::/10", "ff00::/8");
        const mayNot = rangesOf([...hubs, ...theirs, ...nobodys]);
        const routes = peers.filter(({ owners }) => owners.includes(tenantId)).flatMap((peer) => peer.routes);
        expect(routes.filter((route) => !may.covers(route) || mayNot.touches(route)).map(({ text }) => text)).toEqual(
          [],
        );
        covered += routes.length;
      }),
      { numRuns: 500 },
    );
    expect(covered).toBeGreaterThan(100);
  });

  it("does not stop an older mesh: its nodes still join, move and leave", () => {
    fc.assert(
      fc.property(aVictim, aNewForger, pretences, (mesh, tenant, { forged, seen }) => {
        const theirs = [aNode(victims, 0, { forceEndpoint: "198.51.100.99:51820" }), aNode(victims, 7)];
        const held = stored(aloneOf(mesh));
        const wanted = planFor(hub, { meshes: [mesh], theirs, held });
        const planned = planFor(hub, { meshes: [mesh, tenant], theirs, forged, seen, held });
        expect(ofVictim(planned.peers)).toEqual(ofVictim(wanted.peers));
      }),
      { numRuns: 500 },
    );
  });

  it("is not seen at all in a cluster with which it shares no mesh", () => {
    fc.assert(
      fc.property(aVictim, aForger, pretences, (mesh, tenant, { forged, discovered }) => {
        const undisturbed = planFor(victims, { meshes: [mesh] });
        const planned = planFor(victims, { meshes: [mesh, tenant], forged, discovered });
        expect(planned.peers.map(visible)).toEqual(undisturbed.peers.map(visible));
        expect([planned.taken, planned.refused, planned.kept]).toEqual([[], [], []]);
      }),
    );
  });
});

describe("what the nodes of one cluster have met", () => {
  it("never shows on a Peer of another cluster", () => {
    const everybody = meshOf(meshId("kilo-system", "all"), [hub, victims, tenants]);
    fc.assert(
      fc.property(forgeries, observations, fc.constantFrom(hub, victims), (forged, discovered, target) => {
        const unseen = planFor(target, { meshes: [everybody], forged });
        const planned = planFor(target, { meshes: [everybody], forged, discovered });
        expect(planned.peers).toEqual(unseen.peers);
      }),
      { numRuns: 300 },
    );
  });

  it("shows on the Peers of its own", () => {
    const discovered = JSON.stringify({ [aKey("c1-n0")]: { IP: "203.0.113.77", Port: 7 } });
    const meshes = [meshOf(meshId("kilo-system", "all"), [hub, tenants])];
    const { peers } = planFor(tenants, { meshes, forged: [aNode(tenants, 0)], discovered });
    expect(peers.map(({ endpoint: at }) => hostText(at))).toEqual(["203.0.113.77", "198.51.100.11"]);
  });
});

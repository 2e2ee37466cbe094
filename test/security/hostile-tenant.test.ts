import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseIp } from "../../src/core/cidr.ts";
import { diffPeers } from "../../src/core/diff.ts";
import { declaredNetworks } from "../../src/core/mesh.ts";
import { rangesOf } from "../../src/core/ranges.ts";
import { aNode } from "../support/build.ts";

import {
  alone,
  aTenant,
  cidrs,
  forgeries,
  hub,
  hubNodes,
  ofVictim,
  planFor,
  stored,
  tenantId,
  victim,
  victims,
  visible,
} from "../support/hostile-tenant.ts";

describe("a tenant's cluster whose nodes forge everything", () => {
  it("makes no Peer that covers anything but its own networks, and in the flat form its own addresses", () => {
    let covered = 0;
    fc.assert(
      fc.property(aTenant, forgeries, fc.boolean(), (tenant, forged, isLate) => {
        const { peers } = planFor(hub, { meshes: [victim, tenant], forged, held: isLate ? stored(alone) : [] });
        const entry = tenant.entries.find(({ name }) => name === "c3");
        if (!entry) throw new Error("unreachable");
        const own = entry.networks.form === "flat" ? forged.flatMap(({ internalIps }) => internalIps) : [];
        const may = rangesOf(
          declaredNetworks(entry),
          own.flatMap((text) => parseIp(text) ?? []),
        );
        const mayNot = rangesOf(cidrs("10.1.0.0/16", "10.200.1.0/24", "172.16.1.1/32", "172.16.1.2/32"));
        const others = rangesOf(cidrs("10.2.0.0/16", "10.200.2.0/24"));
        const hubKeys = hubNodes.map(({ key: own }) => own);
        expect(peers.filter(({ publicKey }) => hubKeys.includes(publicKey))).toEqual([]);
        for (const { routes, source } of peers.filter(({ owners }) => owners.includes(tenantId))) {
          expect(source).toBe("c3");
          const outside = routes.filter(
            (route) => !may.covers(route) || mayNot.touches(route) || others.touches(route),
          );
          expect(outside.map(({ text }) => text)).toEqual([]);
          covered += routes.length;
        }
      }),
      { numRuns: 500 },
    );
    expect(covered).toBeGreaterThan(100);
  });

  it("changes no Peer of another mesh", () => {
    fc.assert(
      fc.property(aTenant, forgeries, (tenant, forged) => {
        const late = planFor(hub, { meshes: [victim, tenant], forged, held: stored(alone) });
        const touched = diffPeers(late).filter((change) => "held" in change && change.held.owners.includes(victim.id));
        expect(touched).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("does not stop another mesh: its nodes still join, move and leave", () => {
    fc.assert(
      fc.property(aTenant, forgeries, (tenant, forged) => {
        const before = planFor(hub, { meshes: [victim, tenant], forged, held: stored(alone) }).peers;
        const moved = aNode(victims, 0, { forceEndpoint: "198.51.100.99:51820" });
        const theirs = [moved, aNode(victims, 7)];
        const wanted = planFor(hub, { meshes: [victim], theirs, held: stored(alone) });
        const planned = planFor(hub, { meshes: [victim, tenant], theirs, forged, held: stored(before) });
        expect(ofVictim(planned.peers)).toEqual(ofVictim(wanted.peers));
      }),
      { numRuns: 500 },
    );
  });

  it("does not take over the Peers of a cluster that cannot be reached", () => {
    fc.assert(
      fc.property(aTenant, forgeries, (tenant, forged) => {
        const scene = { meshes: [victim, tenant], forged, held: stored(alone), isVictimAway: true };
        const changes = diffPeers(planFor(hub, scene));
        const touched = changes.filter((change) => "held" in change && change.held.owners.includes(victim.id));
        expect(touched).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("is not seen at all in a cluster with which it shares no mesh", () => {
    const undisturbed = planFor(victims, { meshes: [victim] });
    fc.assert(
      fc.property(aTenant, forgeries, (tenant, forged) => {
        const planned = planFor(victims, { meshes: [victim, tenant], forged });
        expect(planned.peers.map(visible)).toEqual(undisturbed.peers.map(visible));
        expect([planned.taken, planned.refused, planned.kept]).toEqual([[], [], []]);
      }),
    );
  });
});

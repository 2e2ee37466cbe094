import { findingUnstamped } from "./adopt.ts";
import { type Matched, tellingApart } from "./holding.ts";
import type { ClusterName, MeshId } from "./ids.ts";
import { surveyKeys, wishedKeys } from "./keys.ts";
import { foldLocations } from "./location.ts";
import { oncePer } from "./once-per.ts";
import { othersOf } from "./others.ts";
import { promisedTo } from "./promised.ts";
import { areFree } from "./protect.ts";
import { reachShare } from "./reach.ts";
import { remembered, rememberedEach, steadily } from "./remembered.ts";
import { type RenderInput, renderNode, renderSource } from "./render.ts";
import { serversOf } from "./servers.ts";
import { meetingsOf } from "./settle-routes.ts";
import { mergeShared } from "./shares.ts";
import { newPlacesIn } from "./sight.ts";
import { type SilentOwner, strangersIn } from "./silent-owners.ts";
import type { Source } from "./source.ts";
import { type ClaimSteps, claimSteps, claimStepsOf, stakeOf, wantedOf } from "./stake.ts";
import { usagesOf, useOf, useOfOthers } from "./uses.ts";

/**
 * What the last plan of a target has worked out, step by step and source by source: the next one works out again only what
 * differs. A plan with it is the plan without it.
 */
export class Recall {
  readonly tellApart = tellingApart();
  readonly unstampedIn = findingUnstamped();
  readonly serversOf = remembered(serversOf);
  readonly promisedTo = remembered(promisedTo);
  readonly useOfOthers = remembered(useOfOthers);
  readonly usagesOf = remembered(usagesOf);
  readonly surveyKeys = remembered(surveyKeys);
  readonly othersOf = remembered(othersOf);
  readonly meetings = remembered(meetingsOf);
  readonly areFree = remembered(areFree);
  readonly mergeShared = remembered(mergeShared);
  /** For the nodes that several sources want. */
  readonly common = shareSteps(claimSteps());
  readonly #ofMesh = oncePer((_: MeshId) => new Map<ClusterName, ShareSteps>());

  readonly #silentOf = oncePer((_: MeshId) => remembered((owner: SilentOwner) => owner));

  /** The same as before while the same is unknown of it. */
  silentOwner(owner: SilentOwner): SilentOwner {
    return this.#silentOf(owner.mesh)(owner);
  }

  of({ mesh, source, entry }: Source): ShareSteps {
    const known = this.#ofMesh(mesh);
    const steps = known.get(source) ?? shareSteps(claimStepsOf(entry));
    known.set(source, steps);
    return steps;
  }
}

export type ShareSteps = ReturnType<typeof shareSteps>;

function shareSteps(ofClaims: ClaimSteps) {
  const ofStake = { ...ofClaims, wantedEach: rememberedEach(wantedOf) };
  const renderEach = rememberedEach(renderNode);
  return {
    fold: remembered(foldLocations),
    wishedKeys: steadily(wishedKeys),
    use: remembered(useOf),
    render: remembered((input: RenderInput) => renderSource(input, renderEach)),
    strangers: remembered(strangersIn),
    newPlaces: remembered(newPlacesIn),
    reach: remembered(reachShare),
    stake: remembered((matched: Matched) => stakeOf(matched, ofStake)),
  };
}

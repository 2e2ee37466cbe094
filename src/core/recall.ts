import { tellApart } from "./holding.ts";
import { bidOf, surveyKeys } from "./keys.ts";
import { foldLocations } from "./location.ts";
import { promisedTo } from "./promised.ts";
import { reachShare } from "./reach.ts";
import { remembered } from "./remembered.ts";
import { renderSource } from "./render.ts";
import { serversOf } from "./servers.ts";
import { mergeShared } from "./shares.ts";
import { strangersIn } from "./silent-owners.ts";
import { type SourceId, sourceText } from "./source.ts";
import { stakeOf } from "./stake.ts";

/**
 * What the last plan of a target has worked out, step by step and source by source: the next one works out again only what
 * differs. A plan with it is the plan without it.
 */
export class Recall {
  readonly tellApart = remembered(tellApart);
  readonly serversOf = remembered(serversOf);
  readonly promisedTo = remembered(promisedTo);
  readonly surveyKeys = remembered(surveyKeys);
  readonly mergeShared = remembered(mergeShared);
  /** For the nodes that several sources want. */
  readonly common = shareSteps();
  readonly #steps = new Map<string, ShareSteps>();

  of(source: SourceId): ShareSteps {
    const key = sourceText(source);
    const steps = this.#steps.get(key) ?? shareSteps();
    this.#steps.set(key, steps);
    return steps;
  }
}

export type ShareSteps = ReturnType<typeof shareSteps>;

function shareSteps() {
  return {
    fold: remembered(foldLocations),
    bid: remembered(bidOf),
    render: remembered(renderSource),
    strangers: remembered(strangersIn),
    reach: remembered(reachShare),
    stake: remembered(stakeOf),
  };
}

import type { Costs, Stage } from "./stage.ts";

/** Throws unless exactly so many Peers were written since the mark, once the operator has nothing left to do. */
export async function expectPeerWrites(stage: Stage, count: number): Promise<Costs> {
  await stage.settled();
  const costs = await stage.costs();
  if (costs.peerWrites.filter(hasWritten).length !== count)
    throw new Error(`${count} Peer writes expected, there were ${JSON.stringify(costs.peerWrites)}`);
  return costs;
}

/**
 * What was refused has changed nothing. A conflict says that somebody was faster: a connection that takes over from
 * another may not have seen the last write of that one.
 */
const hasWritten = (text: string): boolean => !/ (403|409)$/.test(text);

/** Throws when an operator has deleted a Peer since the mark. */
export async function expectNoDeletion(stage: Stage): Promise<void> {
  const { peerWrites } = await stage.costs();
  const deletions = peerWrites.filter((text) => text.includes(" delete "));
  if (deletions.length > 0) throw new Error(`no deletion expected, there were ${JSON.stringify(deletions)}`);
}

/** Resolves when the operators have listed every cluster since the mark, and hear it. */
export async function untilConnected(stage: Stage): Promise<void> {
  await stage.eventually(async () => {
    const { requests } = await stage.costs();
    const lists = requests.filter((text) => text.endsWith(" list nodes"));
    if (new Set(lists).size < 3) throw new Error("not connected to every cluster");
  });
  await stage.heard();
}

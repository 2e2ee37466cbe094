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
 * A conflict says that somebody was faster, and changes nothing: a connection that takes over from another may not have
 * seen the last write of that one.
 */
const hasWritten = (text: string): boolean => !text.endsWith(" 409");

/** Throws when an operator has deleted a Peer since the mark. */
export async function expectNoDeletion(stage: Stage): Promise<void> {
  const { peerWrites } = await stage.costs();
  const deletions = peerWrites.filter((text) => text.includes(" delete "));
  if (deletions.length > 0) throw new Error(`no deletion expected, there were ${JSON.stringify(deletions)}`);
}

/** Resolves when the Ready condition of a mesh says so much. */
export async function untilReady(
  stage: Stage,
  mesh: Parameters<Stage["ready"]>[0],
  said: { readonly reason: string; readonly message?: string },
): Promise<void> {
  await stage.eventually(async () => {
    const { status, reason, message } = await stage.ready(mesh);
    if (status !== "False" || reason !== said.reason || !message.includes(said.message ?? ""))
      throw new Error(`Ready is ${status}, ${reason}: ${message}`);
  });
}

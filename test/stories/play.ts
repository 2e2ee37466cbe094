import { PlayedStage } from "./played-stage.ts";
import type { Ring } from "./ring.ts";
import type { Stage } from "./stage.ts";
import type { Story } from "./story.ts";

/** What a story has cost. */
export interface Figures {
  readonly peerWrites: number;
  readonly otherWrites: number;
  /** In a minute of the operator's clock after everything was done, with heartbeats. Any, and the story has failed. */
  readonly idleRequests: number;
  /** What the story has measured, in words. */
  readonly times: readonly string[];
}

const idleSeconds = 60;

/** Plays a story to its end: the right Peers everywhere, a true status, an operator with nothing left to do. */
export async function play({ run, clockFactor, refused }: Story, ring: Ring): Promise<Figures> {
  const stage = await PlayedStage.open(clockFactor ? { ...ring, clockFactor } : ring);
  try {
    await run(stage);
    const figures = await finish(stage);
    if (!ring.lacksRights) expectNoRefusal(await stage.refusals(), refused);
    return { ...figures, times: stage.times };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error([message, "the operator's last words:", ...stage.logLines()].join("\n  "), { cause: error });
  } finally {
    await stage.close();
  }
}

async function finish(stage: Stage): Promise<Omit<Figures, "times">> {
  await stage.synced();
  await stage.settled();
  const { peerWrites, otherWrites } = await stage.costs();
  await stage.mark();
  await stage.pass(idleSeconds);
  await stage.heard();
  const { requests } = await stage.costs();
  await stage.holds();
  if (requests.length > 0) throw new Error(`the operator is not idle:\n  ${requests.join("\n  ")}`);
  return { peerWrites: peerWrites.length, otherWrites: otherWrites.length, idleRequests: requests.length };
}

/** Throws when an operator asked for something that it may not have and that the story does not name. */
function expectNoRefusal(refusals: readonly string[], expected: readonly string[] = []): void {
  const isExpected = (text: string): boolean => expected.some((one) => text === one || text.slice(2) === one);
  const others = refusals.filter((text) => !isExpected(text));
  if (others.length > 0) throw new Error(`the operator was refused what it asked for: ${JSON.stringify(others)}`);
}

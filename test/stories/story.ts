import type { Stage } from "./stage.ts";

/** One thing that happens to an operator's clusters. Its name is a sentence. */
export interface Story {
  readonly name: string;
  run(stage: Stage): Promise<void>;
  /** Where the ring's clock is too fast: a Lease is lost in ten of its seconds, and machines do stall. */
  readonly clockFactor?: number;
  /** What its operators are refused, as `b create peers` or, wherever it is, `patch nodes`. Any other refusal fails it. */
  readonly refused?: readonly string[];
}

export const story = (name: string, run: Story["run"], options: Omit<Story, "name" | "run"> = {}): Story => ({
  name,
  run,
  ...options,
});

/** A mesh with a keepalive wants it on Nodes too; what we ship does not allow that unless somebody asks for it. */
export const withoutNodeRights = { refused: ["patch nodes"] } as const;

/** For what has to be seen before it passes: half a minute of grace takes a second and a half, also on a busy machine. */
export const unhurried = { clockFactor: 20 } as const;

import type { Stage } from "./stage.ts";

/** One thing that happens to an operator's clusters. Its name is a sentence. */
export interface Story {
  readonly name: string;
  run(stage: Stage): Promise<void>;
  /** Where the ring's clock is too fast: a Lease is lost in ten of its seconds, and machines do stall. */
  readonly clockFactor?: number;
}

export const story = (name: string, run: Story["run"], options: Pick<Story, "clockFactor"> = {}): Story => ({
  name,
  run,
  ...options,
});

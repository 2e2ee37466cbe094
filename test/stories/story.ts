import type { Stage } from "./stage.ts";

/** One thing that happens to an operator's clusters. Its name is a sentence. */
export interface Story {
  readonly name: string;
  run(stage: Stage): Promise<void>;
}

export const story = (name: string, run: Story["run"]): Story => ({ name, run });

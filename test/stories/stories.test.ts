import { describe, it } from "vitest";
import { stories } from "./list.ts";
import { notePassed } from "./passed-stories.ts";
import { play } from "./play.ts";
import { sandboxRing } from "./sandbox-ring.ts";

const patienceMs = 60_000;

describe.concurrent("on embedded clusters", () => {
  for (const story of stories) {
    it(
      story.name,
      async () => {
        await play(story, sandboxRing);
        notePassed(sandboxRing.name, story.name);
      },
      patienceMs,
    );
  }
});

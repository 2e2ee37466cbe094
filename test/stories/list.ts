import { claimStories } from "./claim-stories.ts";
import { clusterStories } from "./cluster-stories.ts";
import { eventStories } from "./event-stories.ts";
import { heldStories } from "./held-stories.ts";
import { installStories } from "./install-stories.ts";
import { meshStories } from "./mesh-stories.ts";
import { moveStories } from "./move-stories.ts";
import { nodeStories } from "./node-stories.ts";
import { operatorStories } from "./operator-stories.ts";
import { peerStories } from "./peer-stories.ts";
import { secretStories } from "./secret-stories.ts";
import type { Story } from "./story.ts";
import { takeoverStories } from "./takeover-stories.ts";
import { teardownStories } from "./teardown-stories.ts";

/** Every story, on every ring. */
export const stories: readonly Story[] = [
  ...nodeStories,
  ...moveStories,
  ...clusterStories,
  ...secretStories,
  ...meshStories,
  ...peerStories,
  ...operatorStories,
  ...installStories,
  ...eventStories,
  ...claimStories,
  ...heldStories,
  ...teardownStories,
  ...takeoverStories,
];

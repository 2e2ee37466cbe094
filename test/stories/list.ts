import { claimStories } from "./claim-stories.ts";
import { clusterStories } from "./cluster-stories.ts";
import { heldStories } from "./held-stories.ts";
import { meshStories } from "./mesh-stories.ts";
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
  ...clusterStories,
  ...secretStories,
  ...meshStories,
  ...peerStories,
  ...operatorStories,
  ...claimStories,
  ...heldStories,
  ...teardownStories,
  ...takeoverStories,
];

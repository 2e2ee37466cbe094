import { appendFileSync } from "node:fs";
import type { Ring } from "./ring.ts";

/** Names the file in which every run notes the stories that passed, so that the lists of two rings can be compared. */
export const passedStoriesVariable = "PASSED_STORIES_FILE";

export function notePassed(ring: Ring["name"], story: string): void {
  const file = process.env[passedStoriesVariable];
  if (file) appendFileSync(file, `${ring}\t${story}\n`);
}

/** What is wrong with the lists of two rings, in words: nothing when they are the same and hold anything. */
export function differencesOf(notes: string, rings: readonly [Ring["name"], Ring["name"]]): string[] {
  const passedOn = (ring: string): Set<string> => {
    const own = notes.split("\n").filter((line) => line.startsWith(`${ring}\t`));
    return new Set(own.map((line) => line.slice(ring.length + 1)));
  };
  const [one, other] = rings;
  const empty = rings.filter((ring) => passedOn(ring).size === 0).map((ring) => `no story passed on ${ring}`);
  const only = (here: string, there: string): string[] =>
    [...passedOn(here).difference(passedOn(there))].map((name) => `only on ${here}: ${name}`);
  return [...empty, ...only(one, other), ...only(other, one)];
}

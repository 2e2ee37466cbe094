// `npm run stories -- --on=sandbox|real`: the operator's stories, the same on embedded clusters and on real API servers.
import { parseArgs } from "node:util";
import { locate } from "../e2e/control-plane/binaries.ts";
import { ensureBinary } from "../e2e/control-plane/build-binary.ts";
import { recipes } from "../e2e/control-plane/recipes.ts";
import { startRealRing } from "../e2e/stories/real-ring.ts";
import { stories } from "../test/stories/list.ts";
import { notePassed } from "../test/stories/passed-stories.ts";
import { type Figures, play } from "../test/stories/play.ts";
import type { Ring } from "../test/stories/ring.ts";
import { sandboxRing } from "../test/stories/sandbox-ring.ts";
import type { Story } from "../test/stories/story.ts";

const usage = `usage: npm run stories -- [--on=sandbox|real] [--oldest] [--only TEXT] [--names]

  --on      where: embedded clusters (the default) or real API servers
  --oldest  real API servers of the oldest supported version
  --only    only stories whose names contain the text
  --names   print the names and play nothing`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      on: { type: "string", default: "sandbox" },
      oldest: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      names: { type: "boolean", default: false },
    },
  });
  if (values.on !== "sandbox" && values.on !== "real") throw new Error(usage);
  const chosen = stories.filter(({ name }) => name.includes(values.only));
  if (chosen.length === 0) throw new Error(`no story's name contains ${JSON.stringify(values.only)}`);
  if (values.names) {
    for (const { name } of chosen) console.log(name);
    return 0;
  }
  return values.on === "sandbox" ? playAll(chosen, sandboxRing) : playOnReal(chosen, values.oldest);
}

async function playOnReal(chosen: readonly Story[], oldest: boolean): Promise<number> {
  const reason = await prepareReal();
  if (reason) {
    console.log(`skipped: stories on real API servers: ${reason}`);
    return process.env.CI === "true" ? 1 : 0;
  }
  const ring = await startRealRing({ version: oldest ? "oldest" : "newest" });
  try {
    return await playAll(chosen, ring);
  } finally {
    await ring.stop();
  }
}

/** Builds what is missing; the reason when that cannot be done here. */
async function prepareReal(): Promise<string | undefined> {
  for (const recipe of recipes) {
    const location = locate(recipe);
    if (location.state === "unavailable") return `${recipe.name}: ${location.reason}`;
  }
  for (const recipe of recipes) await ensureBinary(recipe, (line) => console.error(`control-plane: ${line}`));
  return undefined;
}

interface Result {
  readonly ok: boolean;
  readonly text: string;
}

/** Plays as many at once as the ring bears, and prints each in the order of the list. */
async function playAll(chosen: readonly Story[], ring: Ring): Promise<number> {
  const startedMs = performance.now();
  const results: Promise<Result>[] = [];
  const busy = new Set<Promise<Result>>();
  const printed = chosen.map(() => Promise.withResolvers<Result>());
  const printing = printAll(printed.map(({ promise }) => promise));
  for (const [index, story] of chosen.entries()) {
    if (busy.size >= ring.parallel) await Promise.race(busy);
    const result = attempt(story, ring);
    busy.add(result);
    results.push(result);
    void result.then((value) => {
      busy.delete(result);
      printed[index]?.resolve(value);
    });
  }
  await printing;
  const failed = (await Promise.all(results)).filter(({ ok }) => !ok).length;
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  console.log(`stories: ${chosen.length - failed} passed, ${failed} failed on ${ring.name} (${seconds} s)`);
  return failed === 0 ? 0 : 1;
}

async function printAll(results: readonly Promise<Result>[]): Promise<void> {
  for (const result of results) console.log((await result).text);
}

async function attempt(story: Story, ring: Ring): Promise<Result> {
  const startedMs = performance.now();
  const seconds = (): string => `(${((performance.now() - startedMs) / 1000).toFixed(1)} s)`;
  try {
    const figures = await play(story, ring);
    notePassed(ring.name, story.name);
    return { ok: true, text: `ok ${story.name}  ${figuresText(figures)}  ${seconds()}` };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, text: `FAILED ${story.name}  ${seconds()}\n  ${message}` };
  }
}

function figuresText({ peerWrites, otherWrites, idleRequests, times }: Figures): string {
  const counts = [`peer writes ${peerWrites}`, `other writes ${otherWrites}`, `idle requests ${idleRequests}`];
  return [...counts, ...times].join(" / ");
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  },
);

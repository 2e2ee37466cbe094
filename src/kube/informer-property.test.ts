import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { ModelServer, type Trouble } from "../../test/support/model-server.ts";
import { silentLogger } from "../runtime/log.ts";
import { type Change, Informer } from "./informer.ts";
import type { KubeObject } from "./object.ts";
import { nodes } from "./resource.ts";

type Step =
  | { readonly do: "write" | "write-and-learn"; readonly name: string; readonly value: string }
  | { readonly do: "remove" | "remove-and-learn"; readonly name: string }
  | { readonly do: "trouble"; readonly trouble: Trouble }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "pass-time" | "relist" };

const name = fc.constantFrom("a", "b", "c", "d", "e");
const value = fc.constantFrom("x", "y");
const trouble = fc.constantFrom<Trouble>(
  ...(["fail-list", "fail-watch", "stale-list", "garbage", "cut", "end", "duplicate", "compact"] as const),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom("write" as const, "write-and-learn" as const), name, value }),
  fc.record({ do: fc.constantFrom("remove" as const, "remove-and-learn" as const), name }),
  fc.record({ do: fc.constant("trouble" as const), trouble }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(0, 1, 50, 200, 6_000) }),
  fc.record({ do: fc.constantFrom("pass-time" as const, "relist" as const) }),
);

function aRun() {
  const clock = new FakeClock();
  const server = new ModelServer();
  const informer = new Informer<KubeObject, string>({
    client: server.client,
    clock,
    log: silentLogger,
    resource: nodes,
    decode: ({ metadata }) => metadata.labels?.value ?? "",
    same: (before, after) => before === after,
    pageSize: 2,
  });
  const heard = new Map<string, string>();
  informer.onChange(({ key, before, after }: Change<string>) => {
    expect(before).toBe(heard.get(key));
    expect(after).not.toBe(before);
    if (after === undefined) heard.delete(key);
    else heard.set(key, after);
  });
  return { clock, server, informer, heard };
}

async function perform(step: Step, { clock, server, informer }: ReturnType<typeof aRun>): Promise<void> {
  switch (step.do) {
    case "write":
      return void server.write(step.name, step.value);
    case "write-and-learn":
      return informer.learn(server.write(step.name, step.value));
    case "remove":
      return server.remove(step.name);
    case "remove-and-learn":
      server.remove(step.name);
      return informer.learnDeleted({ name: step.name });
    case "trouble":
      return server.trouble(step.trouble);
    case "pass-time":
      return server.passTime();
    case "relist":
      return informer.relist();
    case "advance":
      return clock.advance(step.ms);
  }
}

/** An object goes and another comes between two pages of a list. */
const changedBetweenPages: Step[] = [
  { do: "write", name: "d", value: "x" },
  { do: "relist" },
  { do: "write", name: "e", value: "x" },
  { do: "pass-time" },
  { do: "write", name: "a", value: "x" },
  { do: "trouble", trouble: "duplicate" },
  { do: "remove", name: "d" },
];

test("whatever goes wrong on the way, in the end the facts are the server's, and every change was told", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const run = aRun();
      const { clock, server, informer, heard } = run;
      informer.start();
      for (const one of steps) await perform(one, run);
      server.calm();
      await clock.advance(60_000);
      server.passTime();
      await clock.advance(60_000);
      expect(Object.fromEntries(informer.entries())).toEqual(server.facts);
      expect(Object.fromEntries(heard)).toEqual(server.facts);
      expect(informer.knowledge.state).toBe("known");
      expect(await informer.reached(server.version, 0)).toBe(true);
      await informer.stop();
      expect(clock.sleeping).toBe(0);
    }),
    { numRuns: 300, examples: [[changedBetweenPages]] },
  );
});

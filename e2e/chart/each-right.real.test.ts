import { deepEqual } from "node:assert/strict";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodes } from "../../src/api/kilo-node.ts";
import { nodeAnnotations } from "../../src/api/names.ts";
import { mapLimited } from "../../src/runtime/limit.ts";
import { letters } from "../../test/stories/facts.ts";
import { stories } from "../../test/stories/list.ts";
import { play } from "../../test/stories/play.ts";
import type { Arena, Ring, RingCluster } from "../../test/stories/ring.ts";
import { type Story, story } from "../../test/stories/story.ts";
import type { PolicyRule } from "../control-plane/scoped-access.ts";
import { type RealRing, startRealRing } from "../stories/real-ring.ts";
import { type Rights, shippedRights } from "../stories/rights.ts";

/** One verb of one rule. */
interface Right {
  readonly where: keyof Rights;
  readonly rule: PolicyRule;
  readonly verb: string;
}

/** Nothing else needs the optional right to patch nodes; without it the operator says what a person may do instead. */
const keepaliveOnNodes = story("Kilo's keepalive is set on the nodes of every cluster", async (stage) => {
  const { entries, ...mesh } = await stage.begin();
  await stage.applyMesh({ ...mesh, entries: entries.map((entry) => ({ ...entry, persistentKeepalive: 20 })) });
  await stage.eventually(async () => {
    for (const letter of letters) {
      const { items } = await stage.admin(letter).list(nodes);
      const said = items.map(({ metadata }) => metadata.annotations?.[nodeAnnotations.keepalive]);
      deepEqual(
        said,
        items.map(() => "20"),
      );
    }
  });
});

/** The cheapest story that a right is needed for; the first that fits. */
const storyFor: readonly (readonly [RegExp, string])[] = [
  [/: leases /, "two replicas run"],
  [/: nodes patch$/, keepaliveOnNodes.name],
  [/: customresourcedefinitions /, "the definition is missing"],
  [/: events /, "a mesh tells of its troubles"],
  [/: peers update$/, "a mesh with a keepalive"],
  [/: peers delete$/, "a mesh is deleted: its Peers go first"],
  [/./, "a mesh is created"],
];

const places = { local: "chart", own: "chart, own namespace", remote: "remote cluster" } as const;
const nameOf = ({ where, rule, verb }: Right): string => `${places[where]}: ${rule.resources} ${verb}`;

/** Enough for a story that goes well, as the first test shows, and little for one that does not. */
const patienceMs = ({ clockFactor }: Story): number => (clockFactor ? 10_000 : 6_000);

const nothingFailed = "NOTHING FAILED FOR IT";

let shipped: Rights;
let ring: RealRing;

beforeAll(async () => {
  shipped = await shippedRights({ nodeKeepalive: true });
  ring = await startRealRing();
}, 120_000);
afterAll(() => ring?.stop());

function rightsIn(rights: Rights): Right[] {
  return (["local", "own", "remote"] as const).flatMap((where) =>
    rights[where].flatMap((rule) => rule.verbs.map((verb) => ({ where, rule, verb }))),
  );
}

function without({ where, rule, verb }: Right): Rights {
  const rest = shipped[where].flatMap((one) => {
    const verbs = one === rule ? one.verbs.filter((own) => own !== verb) : one.verbs;
    return verbs.length > 0 ? [{ ...one, verbs }] : [];
  });
  return { ...shipped, [where]: rest };
}

function storyThatNeeds(right: Right): Story {
  const [, title = ""] = storyFor.find(([pattern]) => pattern.test(nameOf(right))) ?? [];
  const found = [...stories, keepaliveOnNodes].find(({ name }) => name.startsWith(title));
  if (!found) throw new Error(`no story begins with "${title}"`);
  return found;
}

interface Played {
  readonly failed: boolean;
  /** What the operators were refused, as `verb resource`. */
  readonly refused: ReadonlySet<string>;
}

async function playOn(story: Story, on: Ring): Promise<Played> {
  const refused = new Set<string>();
  const open = async (): Promise<Arena> => {
    const { clusters, close } = await on.open();
    const closeNoting = async (): Promise<void> => {
      for (const cluster of Object.values(clusters)) for (const text of await refusedIn(cluster)) refused.add(text);
      await close();
    };
    return { clusters, close: closeNoting };
  };
  const failed = await play(story, { ...on, open, patienceMs: patienceMs(story) }).then(
    () => false,
    () => true,
  );
  return { failed, refused };
}

async function refusedIn(cluster: RingCluster): Promise<string[]> {
  const requests = await cluster.requests();
  return requests
    .filter(({ code }) => code === 403)
    .map(({ verb, resource, subresource }) => `${verb} ${subresource ? `${resource}/${subresource}` : resource}`);
}

describe("the rights that the chart and a remote cluster grant", () => {
  it("are enough for the stories that need them", async () => {
    const played = [...new Set(rightsIn(shipped).map(storyThatNeeds))];
    const results = await mapLimited(played, ring.parallel, async (story) => ({
      story: story.name,
      ...(await playOn(story, ring.granting(shipped))),
    }));
    expect(results).toEqual(played.map(({ name }) => ({ story: name, failed: false, refused: new Set() })));
  });

  it("are all needed: without any one verb a story fails", { timeout: 240_000 }, async () => {
    const rows = await mapLimited(rightsIn(shipped), ring.parallel, async (right) => {
      const story = storyThatNeeds(right);
      const { failed, refused } = await playOn(story, ring.granting(without(right)));
      const wasMissed = failed && refused.has(`${right.verb} ${right.rule.resources}`);
      return `${nameOf(right)} → ${wasMissed ? `failed: ${story.name}` : nothingFailed}`;
    });
    console.log(rows.join("\n"));
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter((row) => row.endsWith(nothingFailed))).toEqual([]);
  });
});

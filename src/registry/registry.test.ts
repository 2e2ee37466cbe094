import { afterEach, describe, expect, it, vi } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { aKubeError, ScriptedClient } from "../../test/support/scripted-client.ts";
import { connectionId } from "../core/ids.ts";
import { silentLogger } from "../runtime/log.ts";
import { Registry } from "./registry.ts";

const config = { server: "https://api.example.org", compress: false };
const [one, broken, other] = ["one", "two", "zwei"].map(connectionId);
if (!one || !broken || !other) throw new Error("unreachable");

let registry: Registry | undefined;
afterEach(async () => {
  await registry?.stop();
  vi.restoreAllMocks();
});

/** Every cluster refuses what it is asked, and counts it. */
function aRegistry() {
  const clock = new FakeClock();
  const clients = new Map<string, ScriptedClient>();
  registry = new Registry({
    local: new ScriptedClient(),
    localConfig: config,
    connect: (id) => {
      if (id === broken) throw new TypeError("planted-secret");
      const client = new ScriptedClient();
      client.willList(aKubeError("unauthorized"));
      clients.set(id, client);
      return client;
    },
    clock,
    log: silentLogger,
    onChange: () => undefined,
  });
  const listsAsked = (id: string): number => clients.get(id)?.listsAsked.length ?? 0;
  return { registry, clock, listsAsked };
}

describe("of the clusters that are wanted", () => {
  it("one that cannot be opened does not keep the others from being opened", () => {
    const { registry } = aRegistry();
    registry.want(new Map([one, broken, other].map((id) => [id, config])));
    expect(registry.ids()).toEqual([one, other]);
    expect(registry.isConnecting(broken)).toBe(true);
  });

  it("those that somebody asks for are tried at once, whatever they wait for, and then once in five seconds", async () => {
    // The pauses between the tries that nobody asks for: none of them ends while the test looks.
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const { registry, clock, listsAsked } = aRegistry();
    registry.want(new Map([one, other].map((id) => [id, config])));
    await clock.advance(120_000);
    const [before, others] = [listsAsked(one), listsAsked(other)];
    registry.relist([one, broken]);
    await clock.settle();
    const after = listsAsked(one);
    expect(after).toBe(before + 2);
    for (let wish = 0; wish < 40; wish++) {
      registry.relist([one]);
      await clock.advance(10);
    }
    expect(listsAsked(one)).toBe(after);
    expect(listsAsked(other)).toBe(others);
    await clock.advance(4700);
    expect(listsAsked(one)).toBeGreaterThanOrEqual(after + 2);
  });
});

import { afterEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { aKubeError, ScriptedClient } from "../../test/support/scripted-client.ts";
import { connectionId } from "../core/ids.ts";
import { silentLogger } from "../runtime/log.ts";
import { Registry } from "./registry.ts";

const config = { server: "https://api.example.org", compress: false };
const [one, broken, other] = ["one", "two", "zwei"].map(connectionId);
if (!one || !broken || !other) throw new Error("unreachable");

let registry: Registry | undefined;
afterEach(() => registry?.stop());

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
});

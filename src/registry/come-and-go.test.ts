import { expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { aList, ScriptedClient, ScriptedStream } from "../../test/support/scripted-client.ts";
import { connectionId } from "../core/ids.ts";
import type { KubeClient } from "../kube/client.ts";
import { silentLogger } from "../runtime/log.ts";
import { Registry } from "./registry.ts";
import { SecretWatches } from "./secret-watches.ts";

const config = { server: "https://api.example.org", compress: false };

/** Clients that list nothing and watch until they are told to stop; how many watches and clients are open. */
function aCrowd() {
  const open = { watches: 0, clients: 0 };
  const connect = (): KubeClient => {
    const client = new ScriptedClient();
    client.willList(aList(10));
    client.willWatch(({ signal }) => {
      open.watches++;
      signal.addEventListener("abort", () => open.watches--, { once: true });
      return new ScriptedStream();
    });
    open.clients++;
    client.close = () => void open.clients--;
    return client;
  };
  return { open, connect };
}

it("two hundred clusters and Secrets that come and go leave no watch, no timer and no client behind", async () => {
  const clock = new FakeClock();
  const { open, connect } = aCrowd();
  const shared = { clock, log: silentLogger, onChange: () => undefined };
  const registry = new Registry({ ...shared, local: connect(), localConfig: config, connect });
  const secrets = new SecretWatches({ ...shared, client: connect() });
  const refs = Array.from({ length: 200 }, (_, index) => ({ namespace: "n", name: `s${index}` }));
  const ids = refs.map((_, index) => connectionId(String(index)));
  for (let round = 0; round < 2; round++) {
    registry.want(new Map(ids.map((id) => [id, config])));
    await secrets.follow(refs);
    await clock.settle(20);
    expect(open).toEqual({ watches: 600, clients: 202 });
    registry.relist(ids);
    secrets.relist(refs);
    await clock.advance(20_000);
    expect(open).toEqual({ watches: 600, clients: 202 });
    registry.want(new Map());
    await Promise.all([...registry.leaving().map((id) => registry.close(id)), secrets.follow([])]);
    await clock.settle();
    expect([open, clock.sleeping]).toEqual([{ watches: 0, clients: 2 }, 0]);
  }
});

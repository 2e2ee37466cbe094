import { describe, expect, it } from "vitest";

import { play } from "./play.ts";
import { untilReady } from "./said.ts";
import { sandboxRing } from "./sandbox-ring.ts";
import { type Story, story } from "./story.ts";

const patienceMs = 60_000;

/** Everything comes right in the end. */
const refusing = (options: Pick<Story, "refused">): Story =>
  story(
    "a cluster refuses a write",
    async (stage) => {
      const mesh = await stage.begin(["a", "b"]);
      const allow = await stage.refusePeers("b", "create");
      await stage.addNode("a", 3);
      await untilReady(stage, mesh, { reason: "WritesFailed" });
      await allow();
    },
    options,
  );

describe.concurrent("a story in which the operator is refused something", () => {
  it("fails when it does not name it", { timeout: patienceMs }, async () => {
    await expect(play(refusing({}), sandboxRing)).rejects.toThrow('was refused what it asked for: ["b create peers"]');
    await expect(play(refusing({ refused: ["c create peers"] }), sandboxRing)).rejects.toThrow("was refused");
  });

  it("passes when it names it, with the cluster or without", { timeout: patienceMs }, async () => {
    for (const refused of [["b create peers"], ["create peers"]])
      await expect(play(refusing({ refused }), sandboxRing)).resolves.toMatchObject({ peerWrites: expect.any(Number) });
  });

  it("passes where rights are missing on purpose: that test asks for more than a refusal", {
    timeout: patienceMs,
  }, async () => {
    await expect(play(refusing({}), { ...sandboxRing, lacksRights: true })).resolves.toBeTruthy();
  });
});

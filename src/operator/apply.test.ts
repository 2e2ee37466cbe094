import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, planOf } from "../../test/support/build.ts";
import { aKubeError } from "../../test/support/scripted-client.ts";
import type { PeerObject } from "../api/kilo-peer.ts";
import { diffPeers } from "../core/diff.ts";
import type { KubeErrorKind } from "../kube/errors.ts";
import type { Connection } from "../registry/connection.ts";
import { silentLogger } from "../runtime/log.ts";
import { applyChanges } from "./apply.ts";

const nodes = Array.from({ length: 100 }, (_, index) => aNode(1, index));
const changes = diffPeers(planOf(aWorld({ meshes: [aMesh(2)], views: [aView(nodes), aView([aNode(2, 0)])] }), 2));

/** Writes them all to a cluster that refuses every write, or every one but the first. */
async function write(kind: KubeErrorKind) {
  let tried = 0;
  const create = async (_: unknown, object: PeerObject): Promise<PeerObject> => {
    if (tried++ > 0) throw aKubeError(kind, "create");
    return object;
  };
  const connection = {
    client: { create },
    writePeer: (_: string, write: () => Promise<unknown>) => write(),
    relistPeers: () => undefined,
  };
  const options = { connection: connection as unknown as Connection, instance: "me", log: silentLogger };
  const refusals = await applyChanges(changes, options);
  return { tried, refusals };
}

describe("a cluster that refuses writes", () => {
  it.each<KubeErrorKind>(["timeout", "unreachable"])("is not tried any further after %s", async (kind) => {
    const { tried, refusals } = await write(kind);
    expect(tried).toBeLessThan(20);
    expect(refusals).toHaveLength(99);
    expect(refusals.at(-1)?.text).toMatch(/^create .*: not tried$/);
  });

  it.each<[KubeErrorKind, boolean]>([
    ["forbidden", true],
    ["server", true],
    ["unreachable", true],
    ["conflict", false],
  ])("does what a new plan cannot mend: %s is that, %s", async (kind, expected) => {
    const { refusals } = await write(kind);
    expect(refusals.some(({ isDenied }) => isDenied)).toBe(expected);
  });

  it("is tried with all that is to be written while it answers", async () => {
    expect((await write("conflict")).tried).toBe(100);
  });
});

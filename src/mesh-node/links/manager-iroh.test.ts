import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { Handled } from "../../../test/support/link-bed.ts";
import { systemClock } from "../../runtime/clock.ts";
import { silentLogger } from "../../runtime/log.ts";
import type { Peer } from "../discovery/roster.ts";
import { deriveEndpointId, deriveSeed } from "../identity.ts";
import { listenIroh } from "../transport/iroh.ts";
import { formationOf, linkProtocol } from "./formation.ts";
import { createManager, type Manager } from "./manager.ts";

const key = new Uint8Array(32).fill(7);
const managers: Manager[] = [];
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await Promise.all(managers.splice(0).map((manager) => manager.close()));
});

async function start(name: string, sharedKey = key) {
  const transport = await listenIroh({ seed: deriveSeed(key, name), address: "127.0.0.1:0", protocol: linkProtocol });
  const handled = new Handled();
  const manager = createManager({
    ...{ transport, handler: handled, clock: systemClock, log: silentLogger },
    formation: formationOf("formation", sharedKey),
  });
  managers.push(manager);
  return { manager, handled, id: transport.id, peer: aPeer(name, transport.address) };
}

async function startProcess(name: string, peers: readonly Peer[], address = "127.0.0.1:0") {
  const program = "test/support/link-process.ts";
  const child = spawn(process.execPath, [program, name, address, JSON.stringify(peers)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const lines: Record<string, string>[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
  const hello = await eventually(() => lines[0] ?? Promise.reject(new Error("it has not said a word")));
  return { child, lines, peer: aPeer(name, hello.address ?? "") };
}

const aPeer = (name: string, address: string): Peer => ({
  ...{ id: deriveEndpointId(key, name), addresses: [address], name, origin: "static", dialable: true },
});

const linksOf = ({ manager }: { readonly manager: Manager }) => manager.links().map(({ peer }) => peer);

describe("managers on real UDP sockets", () => {
  it("form a full mesh with one link per pair, carry frames, and say goodbye", async () => {
    const nodes = await Promise.all(["a", "b", "c", "d"].map((name) => start(name)));
    const peers = nodes.map(({ peer }) => peer);
    for (const { manager } of nodes) manager.want(peers);
    await eventually(() => expect(nodes.map((node) => linksOf(node).length)).toEqual([3, 3, 3, 3]));
    for (const { handled } of nodes)
      for (const { id } of nodes) await handled.linkTo(id)?.send(Buffer.from("hello ".repeat(20_000)));
    await eventually(() => expect(nodes.map(({ handled }) => handled.frames.length)).toEqual([3, 3, 3, 3]));
    expect(nodes.flatMap(({ handled }) => [...handled.broken, ...handled.history])).toEqual(Array(12).fill("up"));
    await nodes[0]?.manager.close();
    await eventually(() => expect(nodes.map((node) => linksOf(node).length)).toEqual([0, 2, 2, 2]));
  });

  it("do not link who has another formation key, nor who answers with another identity", async () => {
    const [a, b, c] = await Promise.all([start("a"), start("b", new Uint8Array(32)), start("c")]);
    const forged = { ...aPeer("d", c.peer.addresses[0] ?? ""), name: "forged" };
    a.manager.want([b.peer, forged]);
    const reasons = () =>
      a.manager.peers().map(({ peer, progress }) => [peer.name, "reason" in progress && progress.reason]);
    await eventually(() =>
      expect(new Map(reasons() as [string, string][])).toEqual(
        new Map([
          ["b", "FormationNotProven"],
          ["forged", "OtherIdentity"],
        ]),
      ),
    );
    expect([a, b, c].flatMap(({ handled }) => handled.history)).toEqual([]);
  });

  it("notice a killed process within 10 seconds, and link it again when it is back at the same address", async () => {
    const here = await start("here");
    const there = await startProcess("there", [here.peer]);
    here.manager.want([there.peer]);
    await eventually(() => expect(linksOf(here)).toEqual([there.peer.id]));
    there.child.kill("SIGKILL");
    const killedAt = performance.now();
    await eventually(() => expect(linksOf(here)).toEqual([]), { withinMs: 20_000 });
    expect(performance.now() - killedAt).toBeLessThan(12_000);
    await startProcess("there", [here.peer], there.peer.addresses[0]);
    await eventually(() => expect(linksOf(here)).toEqual([there.peer.id]));
  }, 60_000);

  it("replace the link of a process that is back before its death was noticed", async () => {
    const here = await start("here");
    const there = await startProcess("there", [here.peer]);
    await eventually(() => expect(linksOf(here)).toEqual([there.peer.id]));
    await systemClock.sleep(1_100);
    there.child.kill("SIGKILL");
    await once(there.child, "exit");
    const again = await startProcess("there", [here.peer], there.peer.addresses[0]);
    await eventually(() => expect(again.lines).toContainEqual({ up: here.id }), { withinMs: 7_000 });
    await eventually(() => expect(here.handled.history).toEqual(["up", "down", "up"]), { withinMs: 5_000 });
    again.child.kill("SIGTERM");
    await eventually(() => expect(linksOf(here)).toEqual([]), { withinMs: 5_000 });
  }, 60_000);

  it("link a peer that moved while another one got its address", async () => {
    const here = await start("here");
    const moving = await startProcess("moving", [here.peer]);
    here.manager.want([moving.peer]);
    await eventually(() => expect(linksOf(here)).toEqual([moving.peer.id]));
    moving.child.kill("SIGKILL");
    await once(moving.child, "exit");
    const other = await startProcess("other", [here.peer], moving.peer.addresses[0]);
    const moved = await startProcess("moving", [here.peer]);
    here.manager.want([moved.peer, other.peer]);
    const both = [moved.peer.id, other.peer.id].sort();
    await eventually(() => expect(linksOf(here)).toEqual(both), { withinMs: 15_000 });
  }, 60_000);
});

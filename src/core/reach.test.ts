import { describe, expect, it } from "vitest";
import { aKey, aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { diffPeers } from "./diff.ts";
import { parseDiscovered } from "./discovered.ts";
import { endpointText } from "./endpoint.ts";
import { nodeName } from "./ids.ts";
import type { NodeFacts } from "./node.ts";
import type { HeldPeer } from "./peer.ts";
import type { World } from "./world.ts";

interface Scene {
  readonly node?: Partial<NodeFacts>;
  /** Where the target's nodes have met it, each as `ip:port`. */
  readonly met?: readonly string[];
  readonly held?: readonly HeldPeer[];
  readonly keepalive?: number;
  readonly discovery?: "Auto" | "Never";
  /** For how long the Peer has had its endpoint, and its mark. */
  readonly ageMs?: number;
  readonly world?: Partial<World>;
}

function plan({ node, met = [], held = [], keepalive = 0, discovery = "Auto", ageMs, world = {} }: Scene = {}) {
  const declared = aMesh(2, { persistentKeepalive: keepalive });
  const mesh = { ...declared, entries: declared.entries.map((entry) => ({ ...entry, endpointDiscovery: discovery })) };
  const ages = new Map(ageMs === undefined ? [] : held.map(({ name }) => [name, ageMs] as const));
  const target = aView([aNode(2, 0)], {
    peers: known(held),
    observed: new Map(met.map((text, index) => [nodeName(`n${index}`), parseDiscovered(reportOf(text))])),
    moveAgesMs: ages,
    endpointAgesMs: ages,
  });
  return planOf(aWorld({ meshes: [mesh], views: [aView([aNode(1, 0, node)]), target], overrides: world }), 2);
}

function reportOf(text: string): string {
  const [ip, port] = text.split(":");
  return JSON.stringify({ [aKey("c1-n0")]: { IP: ip, Port: Number(port) } });
}

/** What was decided, in one line: endpoint, keepalive and marks. */
function lineOf({ peers }: ReturnType<typeof plan>): string {
  const [peer] = peers;
  if (!peer) return "no Peer";
  const marks = [peer.declared && `says ${peer.declared}`, peer.move].filter(Boolean);
  return [endpointText(peer.endpoint), `keepalive ${peer.keepaliveSeconds}`, ...marks].join(", ");
}

/** The Peer as this scene leaves it. */
const heldAfter = (scene: Scene, overrides: Partial<HeldPeer> = {}): HeldPeer[] =>
  plan(scene).peers.map((peer) => heldAs(peer, overrides));

const said = "198.51.100.10:51820";
const saidNow = { forceEndpoint: "198.51.100.77:51820" };
const place = "203.0.113.1:4500";

describe("a Peer whose node is met elsewhere than it says", () => {
  it("has that endpoint, and remembers what the node said", () => {
    expect(lineOf(plan({ met: [place] }))).toBe(`${place}, keepalive 0, says ${said}`);
    expect(diffPeers(plan({ met: [place], held: heldAfter({ met: [place] }) }))).toEqual([]);
  });

  it("remembers nothing where the two agree", () => {
    expect(lineOf(plan({ met: [said] }))).toBe(`${said}, keepalive 0`);
  });

  it("moves when the node says something else than then", () => {
    const held = heldAfter({ met: [place], keepalive: 10 });
    expect(lineOf(plan({ met: [place], keepalive: 10, held, node: saidNow }))).toBe(
      `198.51.100.77:51820, keepalive 10, waiting ${place}`,
    );
  });

  it("moves at once, without steps, when nobody reports it any more", () => {
    const held = heldAfter({ met: [place], keepalive: 10 });
    expect(lineOf(plan({ keepalive: 10, held, node: saidNow }))).toBe("198.51.100.77:51820, keepalive 10");
  });

  it("goes back to where it is met when it is there all the same, and does not try again", () => {
    const moving = heldAfter({
      met: [place],
      keepalive: 10,
      held: heldAfter({ met: [place], keepalive: 10 }),
      node: saidNow,
    });
    const scene = { met: [place], keepalive: 10, node: saidNow, ageMs: 90_000 };
    const dropped = plan({ ...scene, held: moving });
    expect(lineOf(dropped)).toBe(`198.51.100.77:51820, keepalive 0, dropped ${place}`);
    const back = plan({ ...scene, held: dropped.peers.map((peer) => heldAs(peer)) });
    expect(lineOf(back)).toBe(`${place}, keepalive 10, says 198.51.100.77:51820`);
    expect(diffPeers(plan({ ...scene, held: back.peers.map((peer) => heldAs(peer)) }))).toEqual([]);
  });

  it("without keepalive moves without one: Kilo takes the endpoint as it is written", () => {
    const held = heldAfter({ met: [said] });
    const moving = plan({ met: [said], held, node: saidNow });
    expect(lineOf(moving)).toBe(`198.51.100.77:51820, keepalive 0, waiting ${said}`);
    const stuck = plan({ met: [said], held: moving.peers.map((peer) => heldAs(peer)), node: saidNow, ageMs: 90_000 });
    expect(lineOf(stuck)).toBe(`${said}, keepalive 0, says 198.51.100.77:51820`);
  });

  it("says when to look again while it moves, and nothing when all is settled", () => {
    const held = heldAfter({ met: [said], keepalive: 10 });
    const moving = plan({ met: [said], keepalive: 10, held, node: saidNow });
    expect(moving.afterMs).toBe(90_000);
    expect(plan({ met: [said], keepalive: 10, held }).afterMs).toBeUndefined();
  });

  it("of the Go operator is taken over as it is: only its marks are written", () => {
    const [written] = heldAfter({ met: [place], keepalive: 10 });
    if (!written) throw new Error("unreachable");
    const legacy = { ...written, instance: "", owners: [], declared: "" };
    const adopted = plan({ met: [place], keepalive: 10, held: [legacy] });
    expect(lineOf(adopted)).toBe(`${place}, keepalive 10, says ${said}`);
  });

  it("follows a name whose addresses have changed", () => {
    const node = { forceEndpoint: "gw.example.org:7" };
    const resolved = (...addresses: string[]) => ({ resolved: new Map([["gw.example.org", addresses]]) });
    const held = heldAfter({ node, met: [place], keepalive: 10, world: resolved("198.51.100.1") });
    const scene = { node, met: [place], keepalive: 10, held };
    expect(diffPeers(plan({ ...scene, world: resolved("198.51.100.0", "198.51.100.1") }))).toEqual([]);
    expect(diffPeers(plan(scene))).toEqual([]);
    expect(lineOf(plan({ ...scene, world: resolved("198.51.100.2") }))).toBe(
      `198.51.100.2:7, keepalive 10, waiting ${place}`,
    );
  });
});

describe("a name that has no answer, as none has when the operator starts", () => {
  const node = { forceEndpoint: "gw.example.org:7" };
  const answer = { resolved: new Map([["gw.example.org", ["198.51.100.1"]]]) };

  it.each([
    ["is met where it says", ["198.51.100.1:7"]],
    ["is met where it says and elsewhere", ["198.51.100.1:7", "203.0.113.9:7"]],
    ["is met elsewhere", [place]],
    ["is met nowhere", []],
  ])("changes nothing of a Peer whose node %s", (_, met) => {
    const held = heldAfter({ node, met, world: answer, held: heldAfter({ node, met, world: answer }) });
    expect(diffPeers(plan({ node, met, held, world: answer }))).toEqual([]);
    expect(diffPeers(plan({ node, met, held }))).toEqual([]);
  });

  it("does not end a move, nor begin one", () => {
    const before = heldAfter({ met: [said], keepalive: 10 });
    const moving = heldAfter({ node, met: [said], keepalive: 10, held: before, world: answer });
    expect(moving).toMatchObject([{ move: `waiting ${said}` }]);
    expect(diffPeers(plan({ node, met: [said], keepalive: 10, held: moving }))).toEqual([]);
    expect(diffPeers(plan({ node, met: [said], keepalive: 10, held: before }))).toEqual([]);
  });

  it("does not cost a Peer that has no endpoint", () => {
    const held = heldAfter({}, { endpoint: undefined });
    expect(diffPeers(plan({ node: { clustermeshEndpoint: "gw.example.org:7" }, held }))).toEqual([]);
  });
});

describe("an endpoint that was taken from an observation", () => {
  const next = "203.0.113.9:4500";

  it("stays for five minutes after we wrote it, and Kilo may follow the node meanwhile", () => {
    const held = heldAfter({ met: [place] });
    const soon = plan({ met: [next], held, ageMs: 60_000 });
    expect(lineOf(soon)).toBe(`${place}, keepalive 25, says ${said}`);
    expect(soon.afterMs).toBe(240_000);
    expect(lineOf(plan({ met: [next], held, ageMs: 300_000 }))).toBe(`${next}, keepalive 0, says ${said}`);
  });

  it("costs nothing meanwhile where the Peer has a keepalive", () => {
    const held = heldAfter({ met: [place], keepalive: 10 });
    expect(diffPeers(plan({ met: [next], held, keepalive: 10, ageMs: 60_000 }))).toEqual([]);
    expect(diffPeers(plan({ met: [], held, keepalive: 10, ageMs: 60_000 }))).toEqual([]);
  });

  it("that an earlier process wrote, or somebody else, is replaced at once", () => {
    expect(lineOf(plan({ met: [next], held: heldAfter({ met: [place] }) }))).toBe(`${next}, keepalive 0, says ${said}`);
  });

  it("is left for what the node says when nobody reports it any more", () => {
    expect(lineOf(plan({ held: heldAfter({ met: [place] }), ageMs: 300_000 }))).toBe(`${said}, keepalive 0`);
  });

  it("is kept for a node that says nothing: better than an address that nobody has", () => {
    const node = { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" };
    const held = heldAfter({ node, met: [place] });
    expect(lineOf(plan({ node, held, ageMs: 900_000 }))).toBe(`${place}, keepalive 25, says none`);
    expect(lineOf(plan({ met: [place], held, node: saidNow }))).toBe(
      `198.51.100.77:51820, keepalive 25, waiting ${place}`,
    );
  });
});

describe("a Peer that is pinned to a place", () => {
  const node = { clustermeshEndpoint: "192.0.2.9:1" };

  it("and met in another may follow, and it is told", () => {
    const scene = { node, met: [place], held: heldAfter({ node }) };
    expect(lineOf(plan(scene))).toBe("192.0.2.9:1, keepalive 25, says 192.0.2.9:1");
    expect(plan(scene).notes).toEqual([
      { owners: ["kilo-system/my-mesh"], source: "c1", reason: "EndpointDiffers", subject: "c1-n0" },
    ]);
    expect(plan({ node, met: ["192.0.2.9:1"], held: heldAfter({ node }) }).notes).toEqual([]);
  });

  it("goes on following while nobody reports it: any reset of a device makes Kilo forget whom it met", () => {
    const held = heldAfter({ node, met: [place], held: heldAfter({ node }) });
    expect(diffPeers(plan({ node, held }))).toEqual([]);
    expect(plan({ node, held }).notes).toMatchObject([{ reason: "EndpointDiffers" }]);
    expect(lineOf(plan({ node, held, met: ["192.0.2.9:1"] }))).toBe("192.0.2.9:1, keepalive 0");
    const never = heldAfter({ node, keepalive: 25 });
    expect(lineOf(plan({ node, held: never }))).toBe("192.0.2.9:1, keepalive 0");
  });

  it("may follow also when only one of several nodes meets it in another: that one would be reset", () => {
    expect(lineOf(plan({ node, met: ["192.0.2.9:1", place], held: heldAfter({ node }) }))).toBe(
      "192.0.2.9:1, keepalive 25, says 192.0.2.9:1",
    );
  });

  it("keeps the keepalive that it has: Kilo may follow already", () => {
    expect(lineOf(plan({ node, met: [place], keepalive: 10, held: heldAfter({ node, keepalive: 10 }) }))).toBe(
      "192.0.2.9:1, keepalive 10",
    );
  });

  it("is moved when it is pinned to another, and that is told while it lasts", () => {
    const held = heldAfter({ node, keepalive: 10 });
    const moving = plan({ node: { clustermeshEndpoint: "192.0.2.77:1" }, met: ["192.0.2.9:1"], keepalive: 10, held });
    expect(lineOf(moving)).toBe("192.0.2.77:1, keepalive 10, waiting 192.0.2.9:1");
    expect(moving.notes).toMatchObject([{ reason: "EndpointDiffers", subject: "c1-n0" }]);
  });

  it("without keepalive is moved without one, and may follow only when that has not helped", () => {
    const pinned = { clustermeshEndpoint: "192.0.2.77:1" };
    const moving = plan({ node: pinned, met: [place], held: heldAfter({ node }) });
    expect(lineOf(moving)).toBe(`192.0.2.77:1, keepalive 0, waiting ${place}`);
    const held = moving.peers.map((peer) => heldAs(peer));
    const after = plan({ node: pinned, met: [place], held, ageMs: 90_000 });
    expect(lineOf(after)).toBe("192.0.2.77:1, keepalive 25, says 192.0.2.77:1");
  });

  it("by a mesh that wants no discovery is not told of when the node has no place of its own", () => {
    const roaming = { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" };
    expect(plan({ node: roaming, discovery: "Never", met: [place] }).notes).toEqual([]);
  });
});

describe("a Peer without endpoint", () => {
  const node = { forceEndpoint: "", kiloEndpoint: "192.168.3.4:51820" };
  const scene = { node, discovery: "Never" } as const;

  it("is as good as one with a placeholder while the target reports a handshake", () => {
    const held = heldAfter(scene, { endpoint: undefined });
    expect(diffPeers(plan({ ...scene, held, met: [place] }))).toEqual([]);
  });

  it("gets the placeholder while there is none, or Kilo would not see changes of others", () => {
    const held = heldAfter(scene, { endpoint: undefined });
    expect(diffPeers(plan({ ...scene, held }))).toMatchObject([
      { action: "update", peer: { endpoint: { host: { ip: "192.168.3.4" } } } },
    ]);
  });
});

describe("a Peer that is only kept", () => {
  it("gets back the keepalive that its move took from it", () => {
    const [held] = heldAfter({ keepalive: 10 }, { move: `dropped ${place}`, keepaliveSeconds: 0 });
    if (!held) throw new Error("unreachable");
    const mesh = aMesh(2, { persistentKeepalive: 10 });
    const lost = aView([], { nodes: { state: "unknown", reason: "Unreachable" } });
    const target = (peer: HeldPeer) => aView([aNode(2, 0)], { peers: known([peer]) });
    const changes = (peer: HeldPeer) => diffPeers(planOf(aWorld({ meshes: [mesh], views: [lost, target(peer)] }), 2));
    expect(changes(held)).toMatchObject([{ action: "shrink", routes: held.allowedIps }]);
    expect(changes({ ...held, move: `waiting ${place}` })).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, conn } from "../../test/support/build.ts";
import { clusterName, meshId } from "./ids.ts";
import type { Mesh } from "./mesh.ts";
import type { NodeFacts } from "./node.ts";
import { keepaliveChanges, keepaliveMark } from "./node-keepalive.ts";
import type { ConnectedMesh, EntryConnection, World } from "./world.ts";

function changes(facts: Partial<NodeFacts>, { keepalive = 25, floor = 0, inMesh = true } = {}) {
  const meshes = inMesh ? [aMesh(2, { persistentKeepalive: keepalive })] : [];
  const world = aWorld({ meshes, views: [aView([aNode(1, 0)]), aView([aNode(2, 0, facts)])] });
  return keepaliveChanges(world, conn(2), floor);
}

/** As an operator left it; our earlier versions did not say which. */
const marked = (seconds: string, instance?: string): Partial<NodeFacts> => ({
  keepalive: seconds,
  keepaliveMark: instance === undefined ? seconds : keepaliveMark(instance, seconds),
});
const ours = (seconds: string) => marked(seconds, "me");

function withoutSecret({ connections, ...rest }: ConnectedMesh): ConnectedMesh {
  const missing: EntryConnection = { state: "unknown", reason: "SecretMissing" };
  return { ...rest, connections: new Map(connections).set(clusterName("c2"), missing) };
}

describe("R7, R8: the keepalive of a node", () => {
  it("is set where nobody has set it, when a mesh or the operator's owner asks for it", () => {
    expect(changes({})).toEqual([{ node: "c2-n0", seconds: 25 }]);
    expect(changes({}, { keepalive: 0, floor: 10 })).toEqual([{ node: "c2-n0", seconds: 10 }]);
    expect(changes({}, { keepalive: 0 })).toEqual([]);
  });

  it("of a person is never touched, not even one that was ours before", () => {
    expect(changes({ keepalive: "7" })).toEqual([]);
    for (const { keepaliveMark: mark = "" } of [ours("25"), marked("25")]) {
      expect(changes({ keepalive: "7", keepaliveMark: mark })).toEqual([]);
      expect(changes({ keepalive: "7", keepaliveMark: mark }, { inMesh: false })).toEqual([]);
    }
  });

  it("is the smallest that anybody asks for: a longer one would let the mappings of the others end", () => {
    const meshes = [25, 65535, 0].map((persistentKeepalive, index) => aMesh(2, { persistentKeepalive }, `m${index}`));
    const asked = (seconds: string, flagSeconds: number) =>
      keepaliveChanges(
        aWorld({ meshes, views: [aView([aNode(1, 0)]), aView([aNode(2, 0, ours(seconds))])] }),
        conn(2),
        flagSeconds,
      );
    expect(asked("25", 0)).toEqual([]);
    expect(asked("65535", 0)).toEqual([{ node: "c2-n0", seconds: 25, isSet: true }]);
    expect(asked("25", 10)).toEqual([{ node: "c2-n0", seconds: 10, isSet: true }]);
    expect(asked("25", 60)).toEqual([]);
  });

  it("that is ours follows the mesh, and goes with it", () => {
    expect(changes(ours("10"))).toEqual([{ node: "c2-n0", seconds: 25, isSet: true }]);
    expect(changes(ours("25"))).toEqual([]);
    expect(changes(ours("25"), { inMesh: false })).toEqual([{ node: "c2-n0", isSet: true }]);
  });

  it("of another operator is never touched, whoever's meshes lead there", () => {
    for (const inMesh of [true, false])
      for (const seconds of ["10", "25"]) expect(changes(marked(seconds, "they"), { inMesh })).toEqual([]);
  });

  it("that nobody put a name to is taken over by whose meshes lead there, and left alone by all others", () => {
    expect(changes(marked("25"))).toEqual([{ node: "c2-n0", seconds: 25, isSet: true }]);
    expect(changes(marked("10"))).toEqual([{ node: "c2-n0", seconds: 25, isSet: true }]);
    expect(changes(marked("25"), { inMesh: false })).toEqual([]);
    expect(changes(marked("25"), { keepalive: 0 })).toEqual([]);
  });

  it("comes to rest between two operators that ask for different ones, whoever is first", () => {
    const asks = { me: 10, they: 25 };
    let facts: Partial<NodeFacts> = {};
    const writers: string[] = [];
    for (const instance of ["me", "they", "me", "they"] as const) {
      const meshes = [aMesh(2, { persistentKeepalive: asks[instance] })];
      const views = [aView([aNode(1, 0)]), aView([aNode(2, 0, facts)])];
      const [change] = keepaliveChanges(aWorld({ meshes, views, overrides: { instance } }), conn(2), 0);
      if (!change?.seconds) continue;
      writers.push(instance);
      facts = marked(String(change.seconds), instance);
    }
    expect(writers).toEqual(["me"]);
  });

  it("that is ours is only lowered while a mesh cannot be read, which may ask for it; a cluster that leaves loses it", () => {
    const refused = new Set([meshId("kilo-system", "broken")]);
    const changesWith = (meshes: readonly Mesh[], overrides: Partial<World>) => {
      const views = [aView([aNode(1, 0)]), aView([aNode(2, 0, ours("25"))])];
      return keepaliveChanges(aWorld({ meshes, views, overrides: { refused, ...overrides } }), conn(2), 0);
    };
    expect(changesWith([], {})).toEqual([]);
    expect(changesWith([aMesh(2, { persistentKeepalive: 60 })], {})).toEqual([]);
    expect(changesWith([aMesh(2, { persistentKeepalive: 10 })], {})).toMatchObject([{ seconds: 10 }]);
    expect(changesWith([], { leaving: new Set([conn(2)]) })).toEqual([{ node: "c2-n0", isSet: true }]);
  });

  it("that is ours stays while the Secret of a mesh that may ask for it is missing", () => {
    const asking = (seconds: number, name: string): Mesh => aMesh(2, { persistentKeepalive: seconds }, name);
    for (const other of [0, 25]) {
      const views = [aView([aNode(1, 0)]), aView([aNode(2, 0, ours("10"))])];
      const world = aWorld({ meshes: [asking(other, "m1"), asking(10, "m2")], views });
      const meshes = world.meshes.map((one) => (one.mesh.name === "m2" ? withoutSecret(one) : one));
      expect(keepaliveChanges({ ...world, meshes }, conn(2), 0)).toEqual([]);
    }
  });

  it("is not set on a node without WireGuard IP: it leads nothing", () => {
    expect(changes({ wireguardIp: "" })).toEqual([]);
  });

  it("is left to the connection that speaks for the cluster, where two lead to it", () => {
    const nodes = [aNode(2, 0, ours("25"))];
    const views = [aView([aNode(1, 0)]), aView(nodes), aView(nodes), aView(nodes, { trust: "another ca" })];
    const meshes = [aMesh(2, { persistentKeepalive: 25 })];
    const world = aWorld({ meshes, views, overrides: { twins: new Map([[conn(3), conn(2)]]) } });
    for (const cluster of [2, 3, 4]) expect(keepaliveChanges(world, conn(cluster), 0)).toEqual([]);
  });
});

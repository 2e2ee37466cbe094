import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, heldAs, known, planOf } from "../../test/support/build.ts";
import { diffPeers } from "./diff.ts";
import { type Endpoint, endpointText, parseEndpoint, sameEndpoint } from "./endpoint.ts";
import { nodeName, type PeerName } from "./ids.ts";
import type { HeldPeer } from "./peer.ts";

const tickMs = 10_000;
const checkInTicks = 3;
const endpoint = (text: string): Endpoint => parseEndpoint(text) as Endpoint;
const oldPlace = (index: number): string => `198.51.100.${10 + index}:51820`;
const newPlace = (index: number): string => `203.0.113.${10 + index}:51820`;

/** Where a node can be: it answers there, or it comes from there by itself. */
interface Whereabouts {
  readonly answers: (place: string) => boolean;
  readonly comesFrom?: string;
}

/**
 * One node of a target as Kilo runs it: what it discovered wins over the Peer while that has a keepalive; any difference
 * replaces all peers of the device, and what was discovered is forgotten; it publishes what it knows every 30 s.
 */
class SimulatedKilo {
  readonly #device = new Map<string, Endpoint>();
  readonly #discovered = new Map<string, Endpoint>();
  published: ReadonlyMap<string, Endpoint> = new Map();

  tick(peers: readonly HeldPeer[], { answers, comesFrom }: Whereabouts, publishes: boolean): void {
    const wanted = new Map(peers.map((peer) => [peer.publicKey, this.#wanted(peer)] as const));
    const isSame = [...wanted].every(([key, place]) => sameEndpoint(place, this.#device.get(key)));
    if (!isSame) this.#discovered.clear();
    for (const [key, place] of wanted) {
      const met = comesFrom ? endpoint(comesFrom) : place;
      if (met) this.#device.set(key, met);
      if (met && (comesFrom || answers(endpointText(met)))) this.#discovered.set(key, met);
    }
    if (publishes) this.published = new Map(this.#discovered);
  }

  reaches(key: string): string {
    const place = this.#device.get(key);
    return place ? endpointText(place) : "";
  }

  #wanted({ publicKey, endpoint: written, keepaliveSeconds }: HeldPeer): Endpoint | undefined {
    return (keepaliveSeconds > 0 ? this.#discovered.get(publicKey) : undefined) ?? written;
  }
}

interface Run {
  readonly nodes: number;
  readonly keepalive: number;
  /** The ticks in which the operator is killed and started again. */
  readonly crashes?: readonly number[];
  /** Where nodes are after they have said something else. */
  readonly whereabouts?: Whereabouts;
}

/** The target's Peers through a move of all nodes that begins at tick 10. */
class Scene {
  readonly #run: Run;
  readonly #kilos = [new SimulatedKilo(), new SimulatedKilo()];
  readonly dropped: number[] = [];
  held: HeldPeer[] = [];
  writes: string[] = [];
  #tick = 0;
  #since = new Map<PeerName, { readonly mark: string; readonly tick: number }>();

  constructor(run: Run) {
    this.#run = run;
  }

  play(ticks: number): this {
    for (; this.#tick < ticks; this.#tick++) {
      if (this.#run.crashes?.includes(this.#tick)) this.#since.clear();
      this.#operate();
      const whereabouts = (this.#tick >= 10 && this.#run.whereabouts) || { answers: () => true };
      for (const kilo of this.#kilos) kilo.tick(this.held, whereabouts, this.#tick % checkInTicks === 0);
      this.dropped.push(this.held.filter(({ move }) => move.startsWith("dropped")).length);
    }
    return this;
  }

  /** Where each node of the target sends what is meant for each Peer. */
  reached(): string[] {
    return this.held.flatMap(({ publicKey }) => this.#kilos.map((kilo) => kilo.reaches(publicKey)));
  }

  plan() {
    const { nodes, keepalive } = this.#run;
    const said = this.#tick < 10 ? oldPlace : newPlace;
    const one = Array.from({ length: nodes }, (_, index) => aNode(1, index, { forceEndpoint: said(index) }));
    const observed = new Map(this.#kilos.map(({ published }, index) => [nodeName(`n${index}`), published]));
    const moveAgesMs = new Map([...this.#since].map(([name, { tick }]) => [name, (this.#tick - tick) * tickMs]));
    const target = aView([aNode(2, 0)], { peers: known(this.held), observed, moveAgesMs });
    return planOf(aWorld({ meshes: [aMesh(2, { persistentKeepalive: keepalive })], views: [aView(one), target] }), 2);
  }

  #operate(): void {
    for (const { name, move } of this.held) this.#see(name, move);
    for (const change of diffPeers(this.plan())) {
      if (!("peer" in change)) throw new Error(`a Peer goes: ${JSON.stringify(change)}`);
      const written = heldAs(change.peer);
      this.held = [...this.held.filter(({ name }) => name !== written.name), written];
      this.#see(written.name, written.move);
      if (this.#tick >= 10) this.writes.push(`${written.name.slice(-1)} ${written.move.split(" ")[0]}`.trim());
    }
  }

  #see(name: PeerName, mark: string): void {
    if (mark === "") this.#since.delete(name);
    else if (this.#since.get(name)?.mark !== mark) this.#since.set(name, { mark, tick: this.#tick });
  }
}

const places = ({ held }: Scene): string[] =>
  held.map(({ endpoint: place }) => (place ? endpointText(place) : "")).sort();
const marks = ({ held }: Scene): string[] => held.map(({ move, declared }) => `${move}${declared}`).filter(Boolean);

describe("R6: Kilo ignores a new endpoint of a Peer with keepalive that it has met", () => {
  it("so the keepalive is taken off until the target has left the old place, and comes back", () => {
    const scene = new Scene({ nodes: 1, keepalive: 25 }).play(60);
    expect(scene.writes).toEqual(["0 waiting", "0 dropped", "0"]);
    expect(scene.reached()).toEqual([newPlace(0), newPlace(0)]);
    expect(scene.held).toMatchObject([
      { endpoint: endpoint(newPlace(0)), keepaliveSeconds: 25, move: "", declared: "" },
    ]);
  });

  it("and until then nothing changes", () => {
    const scene = new Scene({ nodes: 1, keepalive: 25 }).play(18);
    expect(places(scene)).toEqual([newPlace(0)]);
    expect(scene.reached()).toEqual([oldPlace(0), oldPlace(0)]);
  });

  it("one Peer at a time", () => {
    const scene = new Scene({ nodes: 4, keepalive: 25 }).play(100);
    expect(Math.max(...scene.dropped)).toBe(1);
    expect(places(scene)).toEqual([0, 1, 2, 3].map(newPlace));
    expect(marks(scene)).toEqual([]);
    expect(scene.writes.filter((text) => text.endsWith("dropped"))).toHaveLength(4);
  });

  it("but without keepalive it takes the endpoint at once", () => {
    const scene = new Scene({ nodes: 2, keepalive: 0 }).play(40);
    expect(scene.dropped.every((count) => count === 0)).toBe(true);
    expect(scene.reached()).toEqual([newPlace(0), newPlace(0), newPlace(1), newPlace(1)]);
    expect(marks(scene)).toEqual([]);
  });

  it("a node that left the old place for good is found where it says", () => {
    const answers = (place: string): boolean => place === newPlace(0);
    const scene = new Scene({ nodes: 1, keepalive: 25, whereabouts: { answers } }).play(60);
    expect(scene.reached()).toEqual([newPlace(0), newPlace(0)]);
    expect(scene.held).toMatchObject([{ keepaliveSeconds: 25, move: "" }]);
  });

  it("a node that comes from the old place all the same is left there, and not tried again", () => {
    const whereabouts = { answers: () => true, comesFrom: oldPlace(0) };
    const scene = new Scene({ nodes: 1, keepalive: 25, whereabouts }).play(60);
    expect(scene.writes).toEqual(["0 waiting", "0 dropped", "0"]);
    expect(scene.held).toMatchObject([
      { endpoint: endpoint(oldPlace(0)), keepaliveSeconds: 25, move: "", declared: newPlace(0) },
    ]);
  });

  it("a crash at any step resumes it, and never are two without keepalive", () => {
    const crashes = fc.array(fc.integer({ min: 10, max: 60 }), { maxLength: 4 });
    fc.assert(
      fc.property(crashes, fc.integer({ min: 1, max: 3 }), (ticks, nodes) => {
        const scene = new Scene({ nodes, keepalive: 25, crashes: ticks }).play(160);
        expect(Math.max(...scene.dropped)).toBe(1);
        expect(places(scene)).toEqual(Array.from({ length: nodes }, (_, index) => newPlace(index)));
        expect(new Set(scene.held.map(({ keepaliveSeconds }) => keepaliveSeconds))).toEqual(new Set([25]));
        expect(marks(scene)).toEqual([]);
        expect(diffPeers(scene.plan())).toEqual([]);
        expect(new Set(scene.reached())).toEqual(new Set(Array.from({ length: nodes }, (_, index) => newPlace(index))));
      }),
      { numRuns: 25 },
    );
  });
});

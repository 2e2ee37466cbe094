import { objectOf, type PeerObject, peers, readPeer, sameVersion } from "../api/kilo-peer.ts";
import type { PeerName } from "../core/ids.ts";
import type { HeldPeer } from "../core/peer.ts";
import type { ClusterView } from "../core/world.ts";
import { isKubeError } from "../kube/errors.ts";
import { Informer } from "../kube/informer.ts";
import type { Clock } from "../runtime/clock.ts";
import { observation } from "./observation.ts";
import { PeerAges } from "./peer-ages.ts";
import { PeerCounts } from "./summary.ts";
import type { WatchedOptions } from "./watched-nodes.ts";

/** `written`: to a Peer that we are just writing. */
export type PeersChange = "peer" | "written";

export type JudgedPeer = Pick<HeldPeer, "name" | "resourceVersion">;

type PeersView = Pick<ClusterView, "peers" | "moveAgesMs" | "endpointAgesMs" | "forbiddenAtMs">;

/** The Peers of one cluster: what others do to them, and what we write ourselves. */
export class WatchedPeers {
  readonly informer: Informer<PeerObject, HeldPeer>;
  readonly #clock: Clock;
  readonly #beingWritten = new Set<PeerName>();
  readonly #ages = new PeerAges();
  readonly #counts = new PeerCounts();
  #forbiddenAtMs: number | undefined;

  constructor({ client, clock, log, onChange }: Omit<WatchedOptions<PeersChange>, "signal">) {
    this.#clock = clock;
    this.informer = new Informer({ client, clock, log, resource: peers, decode: readPeer, same: sameVersion });
    this.informer.onChange(({ key, before, after }) => {
      this.#ages.changed(key as PeerName, after, clock.now());
      this.#counts.changed(before, after);
      onChange(this.#beingWritten.has(key as PeerName) ? "written" : "peer");
    });
  }

  view(): PeersView {
    return {
      peers: observation(this.informer.knowledge, this.informer.facts(), "PeerCRDMissing"),
      moveAgesMs: this.#ages.moveAgesMs(this.#clock.now()),
      endpointAgesMs: this.#ages.endpointAgesMs(this.#clock.now()),
      ...(this.#forbiddenAtMs !== undefined && { forbiddenAtMs: this.#forbiddenAtMs }),
    };
  }

  /** How many carry each mark of an instance. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts.current;
  }

  get(name: string): PeerObject | undefined {
    const held = this.informer.get(name);
    return held && objectOf(held);
  }

  /**
   * Writes a Peer and takes the answer into the store, so that the next plan sees it. What the watch tells of that Peer
   * meanwhile is taken for the same: it is often faster than the answer.
   */
  async write(name: PeerName, write: () => Promise<PeerObject>): Promise<void> {
    await this.#writing(name, async () => this.#learn(await write()));
  }

  /** Deletes a Peer as it was judged: what somebody has put in its place since is another one, and stays in sight. */
  async delete({ name, resourceVersion }: JudgedPeer, remove: () => Promise<void>): Promise<void> {
    await this.#writing(name, async () => {
      await remove();
      this.informer.learnDeleted({ name }, resourceVersion);
    });
  }

  async #writing(name: PeerName, write: () => Promise<void>): Promise<void> {
    this.#beingWritten.add(name);
    try {
      await write();
      this.#forbiddenAtMs = undefined;
    } catch (error) {
      if (isKubeError(error, "forbidden")) this.#forbiddenAtMs = this.#clock.now();
      throw error;
    } finally {
      this.#beingWritten.delete(name);
    }
  }

  #learn(object: PeerObject): void {
    this.informer.learn(object);
    const held = this.informer.get(object.metadata.name) ?? readPeer(object);
    if (held.resourceVersion === object.metadata.resourceVersion) this.#ages.wrote(held, this.#clock.now());
  }
}

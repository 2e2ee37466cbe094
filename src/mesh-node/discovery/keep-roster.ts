import type { Logger } from "../../runtime/log.ts";
import { skipReasons } from "../reasons.ts";
import type { Member } from "./member.ts";
import { buildRoster, diffRoster, type Peer, type Roster, type RosterEvent, type RosterInput } from "./roster.ts";

export interface RosterKeeperOptions {
  readonly self: RosterInput["self"];
  /** Absent without a shared key. */
  readonly derive?: RosterInput["derive"];
  /** Told the whole list whenever it changed. */
  readonly want: (peers: readonly Peer[]) => void;
  readonly log: Logger;
}

/** The roster as it follows from what discovery and the configuration say now. */
export class RosterKeeper {
  readonly #options: RosterKeeperOptions;
  readonly #toldSkipped = new Set<string>();
  #members: readonly Member[] = [];
  #staticPeers: RosterInput["staticPeers"] = [];
  #roster: Roster = { peers: [], skipped: [] };

  constructor(options: RosterKeeperOptions) {
    this.#options = options;
  }

  get roster(): Roster {
    return this.#roster;
  }

  setMembers(members: readonly Member[]): void {
    this.#members = members;
    this.#update();
  }

  setStaticPeers(peers: RosterInput["staticPeers"]): void {
    this.#staticPeers = peers;
    this.#update();
  }

  #update(): void {
    const { self, derive, want } = this.#options;
    const before = this.#roster.peers;
    const input = { self, members: this.#members, staticPeers: this.#staticPeers };
    this.#roster = buildRoster({ ...input, ...(derive && { derive }) });
    this.#tellSkipped();
    const events = diffRoster(before, this.#roster.peers);
    for (const event of events) this.#tell(event);
    if (events.length > 0) want(this.#roster.peers);
  }

  #tell({ kind, peer }: RosterEvent): void {
    const { id, name, addresses, origin, dialable } = peer;
    const fields = { peer: id, ...(name !== undefined && { name }), addresses, origin, dialable };
    this.#options.log.info(rosterMessages[kind], fields);
  }

  /** Each once, and again when it was gone meanwhile. To see oneself is no news. */
  #tellSkipped(): void {
    const news = this.#roster.skipped.filter(({ reason }) => reason !== "IsSelf");
    const keys = new Set(news.map(({ name, reason }) => `${reason} ${name}`));
    for (const key of this.#toldSkipped) if (!keys.has(key)) this.#toldSkipped.delete(key);
    for (const { name, reason } of news) {
      if (this.#toldSkipped.has(`${reason} ${name}`)) continue;
      this.#toldSkipped.add(`${reason} ${name}`);
      this.#options.log.warn("member skipped", { name, reason, hint: skipReasons[reason].hint });
    }
  }
}

const rosterMessages = { found: "peer found", updated: "peer updated", lost: "peer lost" } as const;

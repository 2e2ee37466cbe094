import { randomBytes } from "node:crypto";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Peer } from "../discovery/roster.ts";
import type { EndpointId } from "../identity.ts";
import { type LinkReason, linkReasons } from "../reasons.ts";
import { closeCodes, type Transport, TransportError } from "../transport/transport.ts";
import { acceptInbound } from "./accept-inbound.ts";
import { DialWindow } from "./dial-window.ts";
import type { Formation, Role } from "./formation.ts";
import type { LinkHandler, LinkInfo, Traffic } from "./link.ts";
import { Links } from "./links.ts";
import type { LiveLink } from "./live-link.ts";
import type { ConnectOutcome, ConnectTarget, LinkEvent, PeerProgress, PeerState } from "./peer-state.ts";
import { dueNow, type Pursuit, sameAddresses } from "./pursuit.ts";
import { Pursuits } from "./pursuits.ts";
import { Told } from "./told.ts";
import { Wanted } from "./wanted.ts";

export interface ManagerOptions {
  /** Becomes the manager's: it is closed with it. */
  readonly transport: Transport;
  readonly formation: Formation;
  readonly handler: LinkHandler;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  readonly observe?: (event: LinkEvent) => void;
}

/** Keeps one link to every peer that is wanted, and accepts whoever proves to be of the formation. */
export interface Manager {
  /** All peers that are wanted now. One that is no longer among them loses its link after a grace. */
  want(peers: readonly Peer[]): void;
  /** Ends the link and refuses the peer, whoever dials, until `connect`. */
  disconnect(id: EndpointId): void;
  /** Wants the peer until `disconnect`, and tells how the next attempt ends. */
  connect(target: ConnectTarget): Promise<ConnectOutcome>;
  /** Every link, sorted by peer; also those of peers that are not wanted but came by themselves. */
  links(): readonly LinkInfo[];
  /** Every wanted peer, sorted by id. */
  peers(): readonly PeerState[];
  /** Of all links since the start. */
  traffic(): Traffic;
  /** Says goodbye on every link. */
  close(): Promise<void>;
}

export function createManager(options: ManagerOptions): Manager {
  return new MeshManager(options);
}

const dialTimeoutMs = 5_000;
const graceMs = 5_000;

/** Level-triggered: whatever happens, `#reconcile` compares who is wanted with who is linked. */
class MeshManager implements Manager {
  readonly #options: ManagerOptions;
  readonly #self: EndpointId;
  readonly #links: Links;
  readonly #wanted = new Wanted();
  readonly #pursuits: Pursuits;
  readonly #window = new DialWindow();
  readonly #dials = new Map<EndpointId, Promise<void>>();
  readonly #leavingAtMs = new Map<EndpointId, number>();
  readonly #waiters = new Map<EndpointId, ((outcome: ConnectOutcome) => void)[]>();
  readonly #told = new Told(10_000);
  readonly #inbound: Promise<void>;
  #alarm: AbortController | undefined;
  #closed = false;

  constructor(options: ManagerOptions) {
    const { transport, clock, random = Math.random } = options;
    this.#options = options;
    this.#self = transport.id;
    this.#pursuits = new Pursuits({ self: transport.id, clock, random });
    this.#links = new Links({
      ...options,
      self: transport.id,
      instance: randomBytes(8).readBigUInt64BE(),
      isWelcome: (peer, role) => this.#isWelcome(peer, role),
      onUp: (link) => this.#up(link),
      onDown: (link, reason) => this.#down(link, reason),
    });
    this.#inbound = acceptInbound({
      transport,
      isRefused: (peer) => this.#wanted.isRefused(peer),
      greet: (connection) => this.#links.greet(connection, "acceptor"),
      onRefused: (peer, reason) => this.#refused(peer, reason),
    });
  }

  want(peers: readonly Peer[]): void {
    this.#wanted.setRoster(peers.filter(({ id }) => id !== this.#self));
    this.#pursueWanted();
  }

  disconnect(id: EndpointId): void {
    this.#wanted.disconnect(id);
    this.#links.end(id, "NotWanted", closeCodes.notWanted);
    this.#answer(id, { kind: "failed", reason: "NotWanted" });
    this.#pursueWanted();
  }

  async connect({ id, addresses, name }: ConnectTarget): Promise<ConnectOutcome> {
    if (id === this.#self) return { kind: "failed", reason: "IsSelf" };
    if (this.#closed) return { kind: "failed", reason: "TransportClosed" };
    this.#wanted.connect({ id, addresses, ...(name !== undefined && { name }), origin: "static", dialable: true });
    const answer = new Promise<ConnectOutcome>((resolve) => {
      this.#waiters.set(id, [...(this.#waiters.get(id) ?? []), resolve]);
    });
    this.#pursuits.hurry(id);
    this.#pursueWanted();
    if (this.#links.of(id)) this.#answer(id, { kind: "linked" });
    return answer;
  }

  links(): readonly LinkInfo[] {
    return this.#links.all();
  }

  peers(): readonly PeerState[] {
    return this.#pursuits.all().map((pursuit) => ({ peer: pursuit.peer, progress: this.#progressOf(pursuit) }));
  }

  traffic(): Traffic {
    return this.#links.traffic();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#alarm?.abort();
    this.#links.endAll();
    for (const id of [...this.#waiters.keys()]) this.#answer(id, { kind: "failed", reason: "TransportClosed" });
    await this.#options.transport.close();
    await Promise.all([this.#inbound, ...this.#dials.values()]);
  }

  /** Whoever left may be out of sight only for a moment: its link stays for a grace. */
  #pursueWanted(): void {
    const { gone, moved } = this.#pursuits.set(this.#wanted.all());
    for (const id of gone) if (this.#links.isSeated(id)) this.#leavingAtMs.set(id, this.#now() + graceMs);
    for (const id of [...gone, ...moved]) this.#told.forget(id);
    for (const id of this.#leavingAtMs.keys()) if (this.#pursuits.get(id)) this.#leavingAtMs.delete(id);
    this.#reconcile();
  }

  #reconcile(): void {
    if (this.#closed) return;
    for (const [id, atMs] of this.#leavingAtMs) if (atMs <= this.#now()) this.#dismiss(id);
    for (const { peer } of dueNow(this.#missing(), this.#now(), this.#window.size - this.#dials.size))
      this.#dials.set(peer.id, this.#pursue(peer));
    this.#wakeAgain();
  }

  #dismiss(id: EndpointId): void {
    this.#leavingAtMs.delete(id);
    this.#links.end(id, "NotWanted", closeCodes.notWanted);
  }

  #missing(): readonly Pursuit[] {
    return this.#pursuits
      .all()
      .filter(({ peer: { id, dialable } }) => dialable && !this.#dials.has(id) && !this.#links.isSeated(id));
  }

  #wakeAgain(): void {
    this.#alarm?.abort();
    const dials = this.#dials.size < this.#window.size ? this.#missing().map(({ dueAtMs }) => dueAtMs) : [];
    const atMs = Math.min(...dials, ...this.#leavingAtMs.values());
    if (atMs === Number.POSITIVE_INFINITY) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#options.clock.sleep(atMs - this.#now(), alarm.signal).then(
      () => this.#reconcile(),
      () => undefined,
    );
  }

  async #pursue(peer: Peer): Promise<void> {
    const startMs = this.#now();
    const reason = await this.#dial(peer);
    this.#dials.delete(peer.id);
    this.#window.ended(reason, this.#pursuits.get(peer.id)?.failures ?? 0);
    this.#observe({ kind: "dialed", outcome: reason ?? "linked", tookMs: this.#now() - startMs });
    if (reason) this.#failed(peer, reason);
    this.#reconcile();
  }

  async #dial(peer: Peer): Promise<LinkReason | undefined> {
    try {
      return await this.#links.greet(await this.#options.transport.dial(peer, dialTimeoutMs), "dialer");
    } catch (error) {
      if (error instanceof TransportError) return error.failure;
      this.#options.log.error("dial failed", { stack: error instanceof Error ? error.stack : String(error) });
      return "Unreachable";
    }
  }

  /** What failed at addresses that are not current any more says nothing. A duplicate is no failure. */
  #failed(peer: Peer, reason: LinkReason): void {
    const current = this.#pursuits.get(peer.id);
    if (!current || !sameAddresses(current.peer, peer)) return;
    this.#pursuits.failed(peer.id, reason);
    if (reason === "Duplicate" || this.#links.isSeated(peer.id)) return;
    this.#answer(peer.id, { kind: "failed", reason });
    if (this.#told.isNew(peer.id, reason))
      this.#options.log.warn("peer not linked", { ...nameOf(peer), reason, hint: linkReasons[reason].hint });
  }

  #refused(peer: EndpointId, reason: LinkReason): void {
    this.#observe({ kind: "refused", reason });
    if (reason !== "Duplicate" && this.#told.isNew(`from ${peer}`, reason))
      this.#options.log.warn("inbound connection refused", { peer, reason, hint: linkReasons[reason].hint });
  }

  #up(link: LiveLink): void {
    const { peer, direction } = link;
    this.#told.forget(peer);
    this.#told.forget(`from ${peer}`);
    this.#options.log.info("link up", { ...this.#nameOf(peer), direction });
    this.#observe({ kind: "up", direction });
    this.#answer(peer, { kind: "linked" });
  }

  #down(link: LiveLink, reason: LinkReason): void {
    this.#options.log.info("link down", { ...this.#nameOf(link.peer), reason });
    this.#observe({ kind: "down", reason });
    this.#pursuits.ended(link.peer, { reason, lastedMs: link.lastedMs() });
    this.#reconcile();
  }

  #isWelcome(peer: EndpointId, role: Role): boolean {
    if (this.#closed || this.#wanted.isRefused(peer)) return false;
    return role === "acceptor" || this.#pursuits.get(peer) !== undefined;
  }

  #progressOf({ peer, reason, dueAtMs }: Pursuit): PeerProgress {
    const link = this.#links.of(peer.id);
    if (link) return { kind: "linked", link };
    if (this.#dials.has(peer.id)) return { kind: "dialing" };
    const retryAt = new Date(this.#options.clock.date().getTime() + Math.max(0, dueAtMs - this.#now()));
    return { kind: "waiting", ...(reason && { reason }), ...(peer.dialable && { retryAt }) };
  }

  #answer(id: EndpointId, outcome: ConnectOutcome): void {
    for (const tell of this.#waiters.get(id) ?? []) tell(outcome);
    this.#waiters.delete(id);
  }

  #nameOf(peer: EndpointId): Readonly<Record<string, string>> {
    const known = this.#pursuits.get(peer)?.peer;
    return known ? nameOf(known) : { peer };
  }

  #observe(event: LinkEvent): void {
    this.#options.observe?.(event);
  }

  #now(): number {
    return this.#options.clock.now();
  }
}

function nameOf({ id, name }: Peer): Readonly<Record<string, string>> {
  return { peer: id, ...(name !== undefined && { name }) };
}

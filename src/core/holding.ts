import { onceForBoth } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import type { Candidate } from "./render.ts";

/** The Peers that a target holds, told apart. */
export interface Holding {
  readonly held: readonly HeldPeer[];
  /** Ours to write, adopted ones among them. */
  readonly ours: readonly HeldPeer[];
  readonly foreign: readonly HeldPeer[];
  /** The keys of Peers that are not ours. */
  readonly foreignKeys: ReadonlySet<string>;
  /** The Peer of ours that holds each key. */
  readonly heldByKey: ReadonlyMap<string, HeldPeer>;
  /** Keys that several of ours hold. */
  readonly doubled: ReadonlySet<string>;
}

export interface Told {
  readonly held: readonly HeldPeer[];
  readonly instance: string;
}

export function tellApart({ held, instance }: Told): Holding {
  const ours = held.filter((peer) => peer.instance === instance);
  const foreign = held.filter((peer) => peer.instance !== instance);
  const foreignKeys = new Set(foreign.map(({ publicKey }) => publicKey));
  return { held, ours, foreign, foreignKeys, ...survivors(ours) };
}

/** Of several Peers of ours with one key the first by name survives; an anchor of old never does. */
function survivors(ours: readonly HeldPeer[]): Pick<Holding, "heldByKey" | "doubled"> {
  const heldByKey = new Map<string, HeldPeer>();
  const doubled = new Set<string>();
  for (const peer of ours) {
    const other = heldByKey.get(peer.publicKey);
    if (other) doubled.add(peer.publicKey);
    if (!other || goesBefore(peer, other)) heldByKey.set(peer.publicKey, peer);
  }
  return { heldByKey, doubled };
}

function goesBefore(a: HeldPeer, b: HeldPeer): boolean {
  const isAnchor = ({ name }: HeldPeer): boolean => name.endsWith("--anchor");
  return isAnchor(a) === isAnchor(b) ? a.name < b.name : isAnchor(b);
}

/** For each the Peer of ours that holds its key. */
export type Helds = readonly (HeldPeer | undefined)[];

/** What is wanted, beside what is there. */
export interface Matched {
  readonly candidates: readonly Candidate[];
  /** Of each of them. */
  readonly helds: Helds;
}

interface Keyed {
  readonly publicKey: string;
}

/** Those of their keys that Peers which are not ours hold. */
export const foreignKeysAmong = onceForBoth(({ foreignKeys }: Holding, wanted: readonly Keyed[]): readonly string[] =>
  foreignKeys.size === 0 ? [] : wanted.map(({ publicKey }) => publicKey).filter((key) => foreignKeys.has(key)),
);

export const heldsOf = onceForBoth(
  ({ heldByKey }: Holding, wanted: readonly Keyed[]): Helds => wanted.map(({ publicKey }) => heldByKey.get(publicKey)),
);

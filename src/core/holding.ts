import type { PeerName } from "./ids.ts";
import { onceForBoth } from "./once-per.ts";
import type { HeldPeer } from "./peer.ts";
import { remembered, rememberedEach } from "./remembered.ts";
import type { Candidate } from "./render.ts";

/** The Peers that a target holds, told apart. */
export interface Holding {
  readonly held: readonly HeldPeer[];
  /** Ours to write, adopted ones among them. */
  readonly ours: readonly HeldPeer[];
  readonly foreign: readonly HeldPeer[];
  readonly roster: Roster;
}

/** Who is there, whatever is written on them: the same while neither a key nor a name comes or goes. */
export interface Roster {
  /** Of ours, one for each. */
  readonly keys: readonly string[];
  /** The keys of Peers that are not ours. */
  readonly foreignKeys: ReadonlySet<string>;
  /** Where among ours the one is that holds a key. */
  readonly placeOfKey: ReadonlyMap<string, number>;
  readonly placeOfName: ReadonlyMap<PeerName, number>;
  /** Keys that several of ours hold. */
  readonly doubled: ReadonlySet<string>;
}

export interface Told {
  readonly held: readonly HeldPeer[];
  readonly instance: string;
}

interface Listed {
  /** Of ours, one for each. */
  readonly keys: readonly string[];
  readonly names: readonly PeerName[];
  /** Of the others. */
  readonly foreign: readonly string[];
}

/** Tells lists apart, each by what differs from the one before. */
export function tellingApart(): (told: Told) => Holding {
  const isOursEach = rememberedEach(isOurs);
  const keyEach = rememberedEach(keyOf);
  const nameEach = rememberedEach(nameOf);
  const listRoster = remembered(rosterOf);
  return remembered(({ held, instance }) => {
    const told = isOursEach(held, { around: { instance } });
    const ours = held.filter((_, index) => told[index]);
    const foreign = held.filter((_, index) => !told[index]);
    const roster = listRoster({ keys: keyEach(ours), names: nameEach(ours), foreign: foreign.map(keyOf) });
    return { held, ours, foreign, roster };
  });
}

const isOurs = (peer: HeldPeer, _: undefined, { instance }: { readonly instance: string }): boolean =>
  peer.instance === instance;
const nameOf = ({ name }: HeldPeer): PeerName => name;
const keyOf = ({ publicKey }: Keyed): string => publicKey;

/** Of several Peers of ours with one key the first by name survives; an anchor of old never does. */
function rosterOf({ keys, names, foreign }: Listed): Roster {
  const placeOfKey = new Map<string, number>();
  const doubled = new Set<string>();
  for (const [place, key] of keys.entries()) {
    const other = placeOfKey.get(key);
    if (other !== undefined) doubled.add(key);
    if (other === undefined || goesBefore(names[place], names[other])) placeOfKey.set(key, place);
  }
  const placeOfName = new Map(names.map((name, place) => [name, place]));
  return { keys, foreignKeys: new Set(foreign), placeOfKey, placeOfName, doubled };
}

function goesBefore(a = "", b = ""): boolean {
  const isAnchor = (name: string): boolean => name.endsWith("--anchor");
  return isAnchor(a) === isAnchor(b) ? a < b : isAnchor(b);
}

/** The Peer of ours that holds a key. */
export function heldWithKey({ ours, roster }: Holding, key: string): HeldPeer | undefined {
  return at(ours, roster.placeOfKey.get(key));
}

export function heldWithName({ ours, roster }: Pick<Holding, "ours" | "roster">, name: PeerName): HeldPeer | undefined {
  return at(ours, roster.placeOfName.get(name));
}

const at = <T>(list: readonly T[], place: number | undefined): T | undefined =>
  place === undefined ? undefined : list[place];

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
export const foreignKeysAmong = onceForBoth(({ foreignKeys }: Roster, wanted: readonly Keyed[]): readonly string[] =>
  foreignKeys.size === 0 ? [] : wanted.map(keyOf).filter((key) => foreignKeys.has(key)),
);

/** For each of a list; the same list again while none of them changed. */
export const heldsOf = onceForBoth(
  (holding: Holding, wanted: readonly Keyed[]): Helds => matchingOf(holding.roster, wanted)(holding),
);

const matchingOf = onceForBoth(({ placeOfKey }: Roster, wanted: readonly Keyed[]) => {
  const places = wanted.map(({ publicKey }) => placeOfKey.get(publicKey));
  const same = remembered(({ helds }: { helds: Helds }) => helds);
  return ({ ours }: Holding): Helds => same({ helds: places.map((place) => at(ours, place)) });
});

import { credentialEnd, timeText } from "./credentials.ts";
import { cutText } from "./cut-text.ts";
import type { ClusterName, ConnectionId } from "./ids.ts";
import { judgedNodes } from "./judge.ts";
import { keysBehind, type Links, linksTo, type Presence, presences, registeredIn } from "./links.ts";
import type { MeshEntry } from "./mesh.ts";
import type { NodeFacts, SkippedNode } from "./node.ts";
import { entryNotes, type Note, type NotesBySource, notesBySource } from "./notes.ts";
import { onceFor, onceForBoth } from "./once-per.ts";
import { type Case, type ReasonRow, reasonRows } from "./reason-rows.ts";
import {
  isInformation,
  type NoteReason,
  noteReasons,
  type SkipReason,
  skipReasons,
  type UnknownReason,
  unknownReasons,
} from "./reasons.ts";
import { remembered } from "./remembered.ts";
import { leadsTo } from "./source.ts";
import type { MeshStatusInput } from "./status.ts";
import { nodesBehind, type World } from "./world.ts";

/** What is true of one cluster of a mesh. */
export interface ClusterStatus {
  readonly name: ClusterName;
  readonly state: "Known" | "Unknown";
  readonly reason?: UnknownReason;
  /** What to do next, where there is something to do. */
  readonly message?: string;
  readonly nodes: number;
  /** Nodes of this cluster whose Peer exists in every other cluster we know of. */
  readonly registeredPeers: number;
  readonly skippedNodes: number;
  /** Absent while the cluster is unknown. */
  readonly links?: Links;
  readonly credentialExpiresAt?: string;
  readonly skipped?: readonly ReasonRow<SkipReason>[];
  readonly notes?: readonly ReasonRow<NoteReason>[];
}

/** In the order of the spec. */
export function clusterStatuses(input: MeshStatusInput): ClusterStatus[] {
  const { world, connected } = input;
  const targets = presences(world, connected);
  const declared = entryNotes(input);
  const planned = plannedNotes(input, targets);
  return connected.mesh.entries.map((entry) => {
    const id = leadsTo(connected, entry.name);
    const others = targets.filter(({ target }) => target !== id);
    const own = declared.filter(({ source }) => source === entry.name);
    const notes = own.concat(...planned.map((bySource) => bySource.get(entry.name) ?? []));
    return clusterStatus(input, entry, { others, notes });
  });
}

function plannedNotes({ connected, reports }: MeshStatusInput, targets: readonly Presence[]): NotesBySource[] {
  return targets.flatMap(({ target }) => {
    const plan = reports.get(target)?.plan;
    const notes = plan?.state === "known" ? plan.notes : none;
    return notes.length > 0 ? [notesBySource(connected.mesh, notes)] : [];
  });
}

interface Around {
  readonly others: readonly Presence[];
  readonly notes: readonly Note[];
}

function clusterStatus(input: MeshStatusInput, entry: MeshEntry, { others, notes }: Around): ClusterStatus {
  const { world, connected } = input;
  const { name } = entry;
  const connection = connected.connections.get(name);
  const observed = nodesBehind(world, connection);
  const skipped = skippedIn(input, entry, others);
  const nodes = observed.state === "known" ? observed.items : none;
  const keys = keysBehind(entry, skipped.length === 0 ? nodes : without(nodes, skipped));
  const end = credentialEnd(world, connected, name);
  const rows = noteRows(entry)({ notes, roaming: roamingIn(entry, nodes) });
  const counts = {
    nodes: nodes.length,
    registeredPeers: registeredIn(others, keys),
    skippedNodes: skipped.length,
    ...(end && { credentialExpiresAt: timeText(end.atMs) }),
    ...(rows.length > 0 && { notes: rows }),
  };
  const lost = observed.state === "unknown" ? observed : peersUnknown(world, leadsTo(connected, name));
  if (lost) return { name, state: "Unknown", reason: lost.reason, message: lostMessage(lost), ...counts };
  const known = { name, state: "Known", ...counts, links: linksTo(others, keys) } as const;
  const why = skippedRows(skipped);
  const message = firstHint([...why.map(({ reason }) => skipReasons[reason]), ...hintsOf(rows)]);
  return { ...known, ...(why.length > 0 && { skipped: why }), ...(message !== undefined && { message }) };
}

/** Plans are made anew all the time; what they note seldom changes. */
const noteRows = onceFor((_: MeshEntry) =>
  remembered(({ notes, roaming }: Pick<Around, "notes"> & { readonly roaming: readonly Case<NoteReason>[] }) =>
    reasonRows<NoteReason>([...notes, ...roaming]),
  ),
);

/** By what the nodes say of themselves: where others have met one may be another place tomorrow, and is no news. */
const roamingIn = onceForBoth((entry: MeshEntry, nodes: readonly NodeFacts[]): readonly Case<NoteReason>[] =>
  judgedNodes(entry, nodes)
    .admitted.filter(({ roams }) => roams)
    .map(({ name }) => ({ reason: "NodeNoEndpoint", subject: name })),
);

/** What is only good to know comes last. */
const hintsOf = (rows: readonly ReasonRow<NoteReason>[]) =>
  [...rows]
    .sort((a, b) => Number(isInformation(a.reason)) - Number(isInformation(b.reason)))
    .map(({ reason }) => noteReasons[reason]);

/** A node that is skipped is so in every target that it would be given to. */
function skippedIn(
  { connected, reports }: MeshStatusInput,
  entry: MeshEntry,
  others: readonly Presence[],
): readonly SkippedNode[] {
  for (const { target } of others) {
    const plan = reports.get(target)?.plan;
    const sources = plan?.state === "known" ? plan.sources : [];
    const found = sources.find(({ mesh, source }) => mesh === connected.mesh.id && source === entry.name);
    if (found) return found.skipped;
  }
  return none;
}

const none: readonly never[] = [];

/** The same list for the same lists: what is counted of its nodes hangs on it. */
const without = onceForBoth((nodes: readonly NodeFacts[], skipped: readonly SkippedNode[]): readonly NodeFacts[] => {
  const isSkipped = new Set(skipped.map(({ name }) => name));
  return nodes.filter(({ name }) => !isSkipped.has(name));
});

const skippedRows = onceFor((skipped: readonly SkippedNode[]) => reasonRows(skipped.map(skippedCase)));

const skippedCase = ({ name, reason, detail }: SkippedNode) => ({
  reason,
  subject: detail === undefined ? name : `${name}: ${detail}`,
});

interface Lost {
  readonly reason: UnknownReason;
  readonly detail?: string;
}

function peersUnknown(world: World, id: ConnectionId | undefined): Lost | undefined {
  const peers = id && world.clusters.get(id)?.peers;
  return peers?.state === "unknown" ? peers : undefined;
}

const longestDetail = 240;

const lostMessage = ({ reason, detail = "" }: Lost): string =>
  [cutText(detail, longestDetail), unknownReasons[reason].hint].filter(Boolean).join(". ");

/** What needs a person comes before what passes by itself. */
function firstHint(reasons: readonly { readonly waits: boolean; readonly hint: string }[]): string | undefined {
  return (reasons.find(({ waits }) => !waits) ?? reasons[0])?.hint;
}

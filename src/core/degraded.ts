import { type CredentialState, credentialEnd, credentialState, timeText } from "./credentials.ts";
import { drainState } from "./drain.ts";
import { heldUp } from "./hold-up.ts";
import { claimsHeld, listed, type MeshFacts, refused, unserved } from "./mesh-facts.ts";
import { hintOf } from "./readiness.ts";
import type { ReasonRow } from "./reason-rows.ts";
import {
  conditionReasons,
  isInformation,
  type NoteReason,
  noteReasons,
  skipReasons,
  unknownReasons,
} from "./reasons.ts";
import type { ClusterStatus } from "./status.ts";
import { type Verdict, verdict, withHint } from "./verdict.ts";

type Finding = readonly [reason: keyof typeof conditionReasons | NoteReason, texts: readonly string[]];

/**
 * Degraded means: something needs a person, or works otherwise than declared. What passes by itself is not in it, nor
 * are links without a handshake: where nobody sends, none is needed.
 */
export function degradation(facts: MeshFacts): Verdict {
  const findings = findingsOf(facts).filter(([, texts]) => texts.length > 0);
  const [first] = findings;
  if (!first) return verdict("False", "AsDeclared", []);
  const details = findings.flatMap(([reason, texts]) => texts.map((text) => `${reason}: ${text}`));
  return withHint(verdict("True", first[0], details), hintFor(first[0], facts));
}

const troubles = (Object.keys(noteReasons) as NoteReason[]).filter((reason) => !isInformation(reason));

/** The most telling first. */
function findingsOf(facts: MeshFacts): Finding[] {
  const { clusters } = facts;
  return [
    ["ClustersUnknown", clusters.filter(needsPerson).map(({ name, reason }) => `${name}, ${reason}`)],
    ["CredentialEnded", credentials(facts, "CredentialEnded")],
    ["NodesSkipped", nodesSkipped(facts)],
    ["Contested", refused(facts, ({ reason }) => reason === "Contested")],
    ["KeyTaken", [...listed(facts, "taken"), ...listed(facts, "rivalled")]],
    ["EndpointUnresolved", listed(facts, "unresolved")],
    ["ClaimHeld", claimsHeld(facts)],
    ["PeersLeft", peersLeft(facts)],
    ["CredentialEnding", credentials(facts, "CredentialEnding")],
    ...troubles.map((reason): Finding => [reason, noted(clusters, reason)]),
  ];
}

function hintFor(reason: Finding[0], { clusters }: MeshFacts): string {
  return reason in conditionReasons
    ? hintOf(reason as keyof typeof conditionReasons, clusters.filter(needsPerson))
    : noteReasons[reason as NoteReason].hint;
}

const needsPerson = ({ reason }: ClusterStatus): boolean => reason !== undefined && !unknownReasons[reason].waits;

function credentials({ input }: MeshFacts, wanted: CredentialState): string[] {
  const { world, connected, nowMs } = input;
  return connected.mesh.entries.flatMap(({ name }) => {
    const end = credentialEnd(world, connected, name);
    return end && credentialState(end, nowMs) === wanted ? [`${name} at ${timeText(end.atMs)}`] : [];
  });
}

/** Whole clusters for whatever reason, single nodes where somebody has to change something. */
function nodesSkipped(facts: MeshFacts): string[] {
  const whole = unserved(facts);
  const single = facts.clusters.filter((cluster) => !whole.includes(cluster));
  return [
    ...whole.map(({ name, nodes }) => `${name}, all ${nodes} nodes`),
    ...single.flatMap(({ name, skipped = [] }) =>
      skipped.filter(({ reason }) => !skipReasons[reason].waits).map((row) => rowText(name, row)),
    ),
  ];
}

/** Clusters that are in the mesh no more and could not be emptied. */
function peersLeft({ input }: MeshFacts): string[] {
  const { world, connected, ledger } = input;
  const { id, entries } = connected.mesh;
  const names = new Set(entries.map(({ name }) => name));
  const rows = ledger.filter(({ cluster }) => !names.has(cluster));
  return rows.flatMap((row) => {
    const why = heldUp(input, id, row);
    if (why !== undefined) return [`${row.cluster}, ${why}`];
    return drainState(world, id, row) === "lost" ? [row.cluster] : [];
  });
}

function noted(clusters: readonly ClusterStatus[], wanted: NoteReason): string[] {
  return clusters.flatMap(({ name, notes = [] }) =>
    notes.filter(({ reason }) => reason === wanted).map((row) => rowText(name, row)),
  );
}

function rowText(cluster: string, { reason, count, examples: [first = ""] }: ReasonRow<string>): string {
  const more = count > 1 ? ` and ${count - 1} more` : "";
  return reason in skipReasons ? `${cluster}, ${first}${more} (${reason})` : `${cluster}, ${first}${more}`;
}

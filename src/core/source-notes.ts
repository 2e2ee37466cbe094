import { type Cidr, contains } from "./cidr.ts";
import type { Note } from "./notes.ts";
import type { NoteReason } from "./reasons.ts";
import type { Candidate, RenderInput } from "./render.ts";

/** What works, but not as declared, in a cluster that gives Peers to a target. */
export function sourceNotes(input: RenderInput, candidates: readonly Candidate[]): Note[] {
  const { mesh, source, silent, admitted, unclear, servers, allowedCidrs } = input;
  const note = (reason: NoteReason, subject: string): Note => ({ owners: [mesh], source, reason, subject });
  return [
    ...unclear.map((location) => note("GranularityUnclear", location || "nodes without a location")),
    ...admitted.filter(({ name }) => silent.has(name)).map(({ name }) => note("NodeSilent", name)),
    ...(servers.isAsked ? candidates.filter(({ withheld }) => withheld.length > 0).flatMap(withheldNotes) : []),
    ...(allowedCidrs.length > 0 ? candidates.flatMap((candidate) => outsideNotes(candidate, allowedCidrs)) : []),
  ];
}

function withheldNotes({ owners, source, node, withheld }: Candidate): Note[] {
  return withheld.map(({ text }) => ({ owners, source, reason: "ApiServerAddress", subject: `${text} of ${node}` }));
}

function outsideNotes({ owners, source, node, routes }: Candidate, allowed: readonly Cidr[]): Note[] {
  const outside = routes.filter((route) => !allowed.some((network) => contains(network, route)));
  return outside.map(({ text }) => ({ owners, source, reason: "OutsideAllowlist", subject: `${text} of ${node}` }));
}

import type { Note } from "./notes.ts";
import type { NoteReason } from "./reasons.ts";
import type { Candidate, RenderInput } from "./render.ts";

/** What works, but not as declared, in a cluster that gives Peers to a target. */
export function sourceNotes(input: RenderInput, candidates: readonly Candidate[]): Note[] {
  const { mesh, source, silent, admitted, unclear, servers } = input;
  const note = (reason: NoteReason, subject: string): Note => ({ owners: [mesh], source, reason, subject });
  return [
    ...unclear.map((location) => note("GranularityUnclear", location || "nodes without a location")),
    ...admitted.filter(({ name }) => silent.has(name)).map(({ name }) => note("NodeSilent", name)),
    ...(servers.isAsked ? candidates.filter(({ withheld }) => withheld.length > 0).flatMap(withheldNotes) : []),
  ];
}

function withheldNotes({ owners, source, node, withheld }: Candidate): Note[] {
  return withheld.map(({ text }) => ({ owners, source, reason: "ApiServerAddress", subject: `${text} of ${node}` }));
}

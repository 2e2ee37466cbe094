import type { JudgedSource } from "./judge.ts";
import type { Note } from "./notes.ts";
import type { NoteReason } from "./reasons.ts";
import type { Candidate } from "./render.ts";

/** What works, but not as declared, in the clusters that give Peers to a target. */
export function sourceNotes(sources: readonly JudgedSource[], rendered: readonly Candidate[]): Note[] {
  const ofSources = sources.flatMap(({ mesh, source, view, admitted, unclear }) => {
    const note = (reason: NoteReason, subject: string): Note => ({ owners: [mesh], source, reason, subject });
    const silent = admitted.filter(({ name }) => view?.silent.has(name));
    return [
      ...unclear.map((location) => note("GranularityUnclear", location || "nodes without a location")),
      ...silent.map(({ name }) => note("NodeSilent", name)),
    ];
  });
  const isWithheld = ({ withheld }: Candidate): boolean => withheld.length > 0;
  const ofRoutes = rendered
    .filter(isWithheld)
    .flatMap(({ owners, source, node, withheld }) =>
      withheld.map(
        (route): Note => ({ owners, source, reason: "ApiServerAddress", subject: `${route.text} of ${node}` }),
      ),
    );
  return [...ofSources, ...ofRoutes];
}

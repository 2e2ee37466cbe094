import type { ClusterName, MeshId } from "./ids.ts";
import type { NoteReason } from "./reasons.ts";

/** Something that works, but not as declared: told to the meshes it concerns, about one of their clusters. */
export interface Note {
  readonly owners: readonly MeshId[];
  /** The entry it is about. */
  readonly source: ClusterName;
  readonly reason: NoteReason;
  /** What exactly: a node, a route, a Peer. */
  readonly subject: string;
}

import { type ClusterName, localConnection } from "./ids.ts";
import { leastOf } from "./many.ts";
import type { ConnectedMesh, World } from "./world.ts";

const dayMs = 86_400_000;
/** So long before its end a credential needs somebody's attention: a short-lived one in the last quarter of its life. */
const endingMs = 7 * dayMs;
const endingShare = 1 / 4;
/** The last moment that RFC 3339 can write. */
const latestMs = Date.parse("9999-12-31T23:59:59Z");

export type CredentialState = "Good" | "CredentialEnding" | "CredentialEnded";

/** When a credential ends, and from when on that is told. Milliseconds since 1970. */
export interface CredentialEnd {
  readonly atMs: number;
  readonly toldFromMs: number;
}

/**
 * The end of the credential in an entry's own Secret, also where another connection speaks for its cluster. What the
 * operator itself runs with is in no Secret of a mesh.
 */
export function credentialEnd(world: World, connected: ConnectedMesh, entry: ClusterName): CredentialEnd | undefined {
  const connection = connected.connections.get(entry);
  if (connection?.state !== "connected") return undefined;
  const id = connected.spokenFor?.get(entry) ?? connection.id;
  const view = id === localConnection ? undefined : world.clusters.get(id);
  const endsAtMs = view?.credentialEndsAtMs;
  if (endsAtMs === undefined || endsAtMs > latestMs) return undefined;
  const atMs = Math.max(0, endsAtMs);
  const lifetimeMs = view?.credentialLifetimeMs ?? Number.POSITIVE_INFINITY;
  return { atMs, toldFromMs: atMs - Math.min(endingMs, lifetimeMs * endingShare) };
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

export function credentialState({ atMs, toldFromMs }: CredentialEnd, nowMs: number): CredentialState {
  if (nowMs >= atMs) return "CredentialEnded";
  return nowMs >= toldFromMs ? "CredentialEnding" : "Good";
}

/** In how long time alone will change what is said of these credentials; undefined when it will not. */
export function nextChangeMs(ends: readonly CredentialEnd[], nowMs: number): number | undefined {
  const moments = ends.flatMap(({ atMs, toldFromMs }) => [toldFromMs, atMs]).filter((moment) => moment > nowMs);
  return moments.length > 0 ? leastOf(moments) - nowMs : undefined;
}

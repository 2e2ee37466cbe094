import type { KubeObject } from "../../src/kube/object.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { type WatchEvent, watchEvents } from "../../src/kube/watch.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { ContractServer } from "./contract-server.ts";

export interface Watched<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly resourceVersion: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Default 60: longer than a case takes. */
  readonly timeoutSeconds?: number;
}

export type ChangeEvent<T extends KubeObject> = Exclude<WatchEvent<T>, { type: "BOOKMARK" }>;

/** The first changes that a watch tells; bookmarks are left out. */
export async function firstChanges<T extends KubeObject>(
  server: ContractServer,
  watched: Watched<T>,
  count: number,
): Promise<readonly ChangeEvent<T>[]> {
  const changes: ChangeEvent<T>[] = [];
  const ending = new AbortController();
  for await (const event of events(server, watched, ending.signal)) {
    if (event.type !== "BOOKMARK") changes.push(event);
    if (changes.length === count) return changes;
  }
  throw new Error(`the watch ended after ${changes.length} of ${count} changes`);
}

/** Everything that a watch tells until the server ends it. */
export async function wholeWatch<T extends KubeObject>(
  server: ContractServer,
  watched: Watched<T>,
): Promise<readonly WatchEvent<T>[]> {
  const told: WatchEvent<T>[] = [];
  for await (const event of events(server, watched, new AbortController().signal)) told.push(event);
  return told;
}

/** `TYPE name`, one per change. */
export function told(changes: readonly ChangeEvent<KubeObject>[]): string[] {
  return changes.map(({ type, object }) => `${type} ${object.metadata.name}`);
}

/** The version from which a watch of the resource sees what comes next. */
export async function versionNow(server: ContractServer, resource: Resource): Promise<string> {
  return (await server.client.list(resource, { limit: 1 })).metadata.resourceVersion;
}

function events<T extends KubeObject>(server: ContractServer, watched: Watched<T>, signal: AbortSignal) {
  return watchEvents({ client: server.client, clock: systemClock, signal, timeoutSeconds: 60, ...watched });
}

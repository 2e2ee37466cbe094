import type { ConnectionId } from "../core/ids.ts";
import type { HeldPeer } from "../core/peer.ts";
import type { UnknownReason } from "../core/reasons.ts";
import type { CredentialExpiry } from "../kube/credential-expiry.ts";
import type { Informer } from "../kube/informer.ts";
import type { KubeObject } from "../kube/object.ts";
import type { ReadFailures } from "../kube/read-failures.ts";
import { type Resource, resourceText } from "../kube/resource.ts";

/** What one informer has done so far. */
export interface InformerSummary {
  /** As RBAC writes it. */
  readonly resource: string;
  readonly lists: number;
  readonly streamsEnded: number;
  readonly readFailures: ReadFailures;
}

export function informerSummary<T extends KubeObject, F>(
  resource: Resource<T>,
  { listCount, streamsEnded, readFailures }: Pick<Informer<T, F>, "listCount" | "streamsEnded" | "readFailures">,
): InformerSummary {
  return { resource: resourceText(resource), lists: listCount, streamsEnded, readFailures };
}

/** One connection in numbers; making it copies nothing. */
export interface ConnectionSummary {
  readonly id: ConnectionId;
  /** Why nodes or Peers are unknown; undefined when both are known. */
  readonly unknown: UnknownReason | undefined;
  /** Undefined while unknown. */
  readonly nodes: number | undefined;
  /** How many Peers carry each mark of an instance; undefined while unknown. */
  readonly peers: ReadonlyMap<string, number> | undefined;
  readonly credential: CredentialExpiry | undefined;
  readonly informers: readonly InformerSummary[];
}

/** Counts Peers by the mark of the instance that wrote them, change by change. */
export class PeerCounts {
  readonly #counts = new Map<string, number>();

  get current(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  changed(before: HeldPeer | undefined, after: HeldPeer | undefined): void {
    if (before) this.#add(before.instance, -1);
    if (after) this.#add(after.instance, 1);
  }

  #add(instance: string | undefined, amount: number): void {
    const mark = instance ?? "";
    const count = (this.#counts.get(mark) ?? 0) + amount;
    if (count === 0) this.#counts.delete(mark);
    else this.#counts.set(mark, count);
  }
}

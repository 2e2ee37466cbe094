import { isDeepStrictEqual } from "node:util";
import { type PeerObject, peers } from "../../src/api/kilo-peer.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import { isKubeError } from "../../src/kube/errors.ts";
import { type ExpectedPeer, expectedPeers } from "./expected-peers.ts";
import type { Facts, Letter } from "./facts.ts";

export interface Holding {
  readonly cluster: Letter;
  readonly admin: KubeClient;
  /** The mark of each operator's Peers, by the operator's home. */
  readonly instances: ReadonlyMap<Letter, string>;
}

/** Throws with the difference unless the cluster holds exactly the Peers that the facts ask for. */
export async function assertHolds(facts: Facts, { cluster, admin, instances }: Holding): Promise<void> {
  const held = await peersIn(admin);
  const foreign = facts.foreign[cluster] ?? [];
  const missing = foreign.filter((name) => !held.some(({ metadata }) => metadata.name === name));
  if (missing.length > 0) throw new Error(`cluster ${cluster} has lost ${missing} of other people`);
  const actual = held
    .filter(({ metadata }) => !foreign.includes(metadata.name))
    .map((peer) => described(peer, instances))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const expected = expectedPeers(facts, cluster);
  if (!isDeepStrictEqual(actual, expected)) throw new Error(differenceOf(cluster, actual, expected));
}

/** Every Peer of a cluster; none where the type is missing. */
export async function peersIn(admin: KubeClient): Promise<readonly PeerObject[]> {
  try {
    return (await admin.list(peers)).items;
  } catch (error) {
    if (isKubeError(error, "not-found")) return [];
    throw error;
  }
}

function described({ metadata, spec }: PeerObject, instances: ReadonlyMap<Letter, string>): ExpectedPeer {
  const { labels = {}, annotations = {} } = metadata;
  const [home] = [...instances].find(([, instance]) => instance === labels["kilo-clustermesh.io/instance"]) ?? [];
  return {
    name: metadata.name,
    home: home ?? ("nobody" as Letter),
    mesh: labels["kilo-clustermesh.io/mesh"] ?? "",
    source: labels["kilo-clustermesh.io/source-cluster"] ?? "",
    node: annotations["kilo-clustermesh.io/source-node"] ?? "",
    owners: annotations["kilo-clustermesh.io/owners"] ?? "",
    publicKey: spec.publicKey,
    allowedIPs: [...spec.allowedIPs].sort(),
    endpoint: endpointText(spec.endpoint),
    persistentKeepalive: spec.persistentKeepalive ?? 0,
  };
}

function endpointText(endpoint: PeerObject["spec"]["endpoint"]): string {
  return endpoint ? `${endpoint.dnsOrIP.ip ?? endpoint.dnsOrIP.dns}:${endpoint.port}` : "";
}

function differenceOf(cluster: Letter, actual: readonly ExpectedPeer[], expected: readonly ExpectedPeer[]): string {
  const lines = (from: readonly ExpectedPeer[], without: readonly ExpectedPeer[]): string[] =>
    from.filter((peer) => !without.some((other) => isDeepStrictEqual(peer, other))).map((peer) => JSON.stringify(peer));
  const wrong = lines(actual, expected).map((line) => `holds ${line}`);
  const lacking = lines(expected, actual).map((line) => `lacks ${line}`);
  return [`cluster ${cluster} is not as it should be:`, ...wrong, ...lacking].join("\n  ");
}

import { type Cidr, parseCidr, parseHostInCidr } from "../core/cidr.ts";
import type { KubeconfigLicence } from "../kube/kubeconfig.ts";
import type { ListenAddress } from "../runtime/http-server.ts";

/** How one operator is set up; read once, passed down. */
export interface OperatorConfig {
  /** Marks this operator's Peers. Empty: made from the UID of the local kube-system namespace. */
  readonly instance: string;
  /** Write the definition of ClusterMesh. Otherwise somebody else does, and no right on definitions is used. */
  readonly installCrd: boolean;
  readonly leaderElection: false | { readonly namespace: string; readonly identity: string };
  /** What kubeconfigs in Secrets may do beyond the ordinary. */
  readonly allow: ReadonlySet<KubeconfigLicence>;
  /** What meshes may declare and nodes may bring. Empty: anything. */
  readonly allowedCidrs: readonly Cidr[];
  /** The namespaces whose meshes may name the local cluster. Empty: all. */
  readonly localNamespaces: ReadonlySet<string>;
  /** What becomes of the Go operator's Peers that belong to no mesh. */
  readonly legacyOrphans: "delete" | "report";
  /** Kilo's keepalive for the nodes of every mesh; 0 leaves it to each mesh. */
  readonly nodeKeepaliveSeconds: number;
  readonly health: ListenAddress | "off";
  readonly metrics: MetricsServing | "off";
}

export interface MetricsServing {
  readonly address: ListenAddress;
  /** Files to serve HTTPS with; read again when they change. */
  readonly tls: false | { readonly certFile: string; readonly keyFile: string };
}

/** An operator for which nobody has set anything. */
export const defaultConfig: OperatorConfig = {
  instance: "",
  installCrd: true,
  leaderElection: false,
  allow: new Set(),
  allowedCidrs: [],
  localNamespaces: new Set(),
  legacyOrphans: "delete",
  nodeKeepaliveSeconds: 0,
  health: "off",
  metrics: "off",
};

const licences: readonly KubeconfigLicence[] = ["insecure-tls", "proxy", "loopback"];

/** `insecure-tls,loopback` → the set; an unknown word is an error that names the known ones. */
export function parseLicences(text: string): Set<KubeconfigLicence> {
  const words = listOf(text);
  const isLicence = (word: string): word is KubeconfigLicence => licences.some((licence) => licence === word);
  const wrong = words.filter((word) => !isLicence(word));
  if (wrong.length > 0) throw new Error(`unknown: ${wrong.join(", ")}; known are ${licences.join(", ")}`);
  return new Set(words.filter(isLicence));
}

/** `10.0.0.0/8,fd00::/8` → the networks; a bit set behind the prefix is an error, for it shows a mistake. */
export function parseCidrs(text: string): Cidr[] {
  return someOf(text).map((word) => {
    const cidr = parseCidr(word);
    if (!cidr) throw new Error(`${word} is not a network such as 10.0.0.0/8`);
    if (parseHostInCidr(word)?.value !== cidr.first)
      throw new Error(`${word} has bits behind its prefix; did you mean ${cidr.text}?`);
    return cidr;
  });
}

const dnsLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** `default,kilo-system` → the set. */
export function parseNamespaces(text: string): Set<string> {
  const names = someOf(text);
  const wrong = names.filter((word) => !dnsLabel.test(word));
  if (wrong.length > 0) throw new Error(`not the name of a namespace: ${wrong.join(", ")}`);
  return new Set(names);
}

const longestKeepalive = 65_535;

export function parseKeepalive(text: string): number {
  const seconds = Number(text);
  if (!/^\d+$/.test(text) || seconds > longestKeepalive)
    throw new Error(`give whole seconds from 0 to ${longestKeepalive}`);
  return seconds;
}

const labelValue = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** The mark of an instance is written as a label's value. */
export function parseInstance(text: string): string {
  if (text !== "" && !labelValue.test(text))
    throw new Error("give at most 63 letters, digits, dots, dashes and underscores, as a label's value is written");
  return text;
}

/** An empty list would allow everything; who wants that does not give one. */
function someOf(text: string): string[] {
  const words = listOf(text);
  if (words.length === 0) throw new Error("it is empty; leave the flag out to allow all");
  return words;
}

/** Words between commas; spaces around them and empty ones do not count. */
function listOf(text: string): string[] {
  return text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

import { isDeepStrictEqual } from "node:util";
import { nodes } from "../../src/api/kilo-node.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import {
  addressesOf,
  aNode,
  annotationsOf,
  type Facts,
  type Letter,
  type NodeFacts,
  nodeObject,
  noFacts,
} from "./facts.ts";

/** What a story knows, and what it does to nodes. Everything goes through the API as administrator. */
export abstract class StagedNodes {
  #facts = noFacts;
  readonly #stripped = new Set<string>();

  abstract admin(cluster: Letter): KubeClient;

  get facts(): Facts {
    return this.#facts;
  }

  assume(facts: Partial<Facts>): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** Those that give signs of life. */
  protected living(): NodeFacts[] {
    return this.#facts.nodes.filter(({ name, silent }) => !this.#stripped.has(name) && !silent);
  }

  async addNode(cluster: Letter, index: number, overrides: Partial<NodeFacts> = {}): Promise<NodeFacts> {
    const node = aNode(cluster, index, overrides);
    await this.admin(cluster).create(nodes, nodeObject(node));
    this.assume({ nodes: [...this.#facts.nodes, node] });
    return node;
  }

  async deleteNode(name: string): Promise<void> {
    const { cluster } = this.#node(name);
    this.assume({ nodes: this.#facts.nodes.filter((node) => node.name !== name) });
    await this.admin(cluster).delete(nodes, { name });
  }

  async changeNode(name: string, change: Partial<NodeFacts>): Promise<void> {
    const before = this.#node(name);
    const node = { ...before, ...change };
    await this.#annotate(node, { "kilo.squat.ai/force-endpoint": null, ...annotationsOf(node) });
    const addresses = addressesOf(node);
    if (!isDeepStrictEqual(addresses, addressesOf(before))) await this.#address(node, addresses);
    this.assume({ nodes: this.#facts.nodes.map((one) => (one.name === name ? node : one)) });
  }

  hushNode(name: string): void {
    this.assume({ nodes: this.#facts.nodes.map((node) => (node.name === name ? { ...node, silent: true } : node)) });
  }

  async stripNode(name: string): Promise<void> {
    this.#stripped.add(name);
    const kilo = Object.keys(annotationsOf(this.#node(name))).filter((key) => !key.endsWith("/force-endpoint"));
    await this.#annotate(this.#node(name), Object.fromEntries(kilo.map((key) => [key, null])));
  }

  async dressNode(name: string): Promise<void> {
    this.#stripped.delete(name);
    await this.#annotate(this.#node(name), annotationsOf(this.#node(name)));
  }

  #node(name: string): NodeFacts {
    const node = this.#facts.nodes.find((one) => one.name === name);
    if (!node) throw new Error(`the story has no node ${name}`);
    return node;
  }

  async #annotate({ cluster, name }: NodeFacts, annotations: Record<string, string | null>): Promise<void> {
    await this.admin(cluster).patch(nodes, { name }, { body: { metadata: { annotations } } });
  }

  /** What a kubelet or a cloud provider does. */
  async #address({ cluster, name }: NodeFacts, addresses: ReturnType<typeof addressesOf>): Promise<void> {
    await this.admin(cluster).patch(nodes, { name }, { body: { status: { addresses } }, subresource: "status" });
  }
}

import { rejects } from "node:assert/strict";
import { type ClusterMeshObject, clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { nodes } from "../../src/api/kilo-node.ts";
import { secrets } from "../../src/api/kubeconfig-secret.ts";
import { isKubeError } from "../../src/kube/errors.ts";
import { createClient } from "../../src/kube/http-client.ts";
import { configOf } from "../support/run-operator.ts";
import { type EntryFacts, type Letter, type MeshFacts, meshIdOf, meshSpec } from "./facts.ts";
import type { Credential, CredentialOptions } from "./ring.ts";
import type { Ending, ReadyCondition } from "./stage.ts";
import { StagedNodes } from "./staged-nodes.ts";

const refOf = ({ namespace, name }: MeshFacts) => ({ namespace, name });

/** What a story does to meshes and their Secrets. */
export abstract class StagedMeshes extends StagedNodes {
  protected abstract credentialOf(cluster: Letter, options?: CredentialOptions): Promise<Credential>;
  abstract eventually<T>(check: () => T | Promise<T>): Promise<T>;

  async applyMesh(mesh: MeshFacts): Promise<void> {
    const others = this.facts.meshes.filter((one) => one.home !== mesh.home || meshIdOf(one) !== meshIdOf(mesh));
    const exists = others.length < this.facts.meshes.length;
    this.assume({ meshes: [...others, mesh] });
    for (const entry of mesh.entries) await this.#connect(mesh, entry);
    if (exists) return this.writeSpec(mesh, meshSpec(mesh));
    const metadata = { namespace: mesh.namespace, name: mesh.name };
    await this.eventually(() => this.admin(mesh.home).create(clusterMeshes, { metadata, spec: meshSpec(mesh) }));
  }

  async writeSpec(mesh: MeshFacts, spec: unknown): Promise<void> {
    await this.admin(mesh.home).patch(clusterMeshes, refOf(mesh), { body: { spec } });
  }

  async deleteMesh(mesh: MeshFacts): Promise<void> {
    await this.admin(mesh.home).delete(clusterMeshes, refOf(mesh));
    this.#forgetMesh(mesh);
  }

  async forceDeleteMesh(mesh: MeshFacts): Promise<void> {
    const admin = this.admin(mesh.home);
    await admin.delete(clusterMeshes, refOf(mesh));
    await admin
      .patch(clusterMeshes, refOf(mesh), { body: { metadata: { finalizers: null } } })
      .catch(unless("not-found"));
    this.#forgetMesh(mesh);
  }

  async putSecret(mesh: MeshFacts, secret: string, cluster: Letter): Promise<Credential> {
    const credential = await this.credentialOf(cluster);
    await this.writeSecret(mesh, secret, credential.kubeconfig);
    return credential;
  }

  async putEndingSecret(mesh: MeshFacts, secret: string, cluster: Letter): Promise<Ending> {
    const { kubeconfig } = await this.credentialOf(cluster, { isEnding: true });
    await this.writeSecret(mesh, secret, kubeconfig);
    return { refused: () => this.#untilRefused(kubeconfig) };
  }

  async #untilRefused(kubeconfig: string): Promise<void> {
    const client = createClient(configOf(kubeconfig), { cluster: "ending", userAgent: "story-ending" });
    try {
      await this.eventually(() => rejects(client.list(nodes), (error) => isKubeError(error, "unauthorized")));
    } finally {
      client.close();
    }
  }

  async writeSecret({ home, namespace }: MeshFacts, name: string, kubeconfig: string): Promise<void> {
    const data = { kubeconfig: Buffer.from(kubeconfig).toString("base64") };
    try {
      await this.admin(home).patch(secrets, { namespace, name }, { body: { data } });
    } catch (error) {
      unless("not-found")(error);
      await this.admin(home).create(secrets, { metadata: { namespace, name }, data });
    }
  }

  async deleteSecret({ home, namespace }: MeshFacts, name: string): Promise<void> {
    await this.admin(home).delete(secrets, { namespace, name });
  }

  mesh(mesh: MeshFacts): Promise<ClusterMeshObject> {
    return this.admin(mesh.home).get(clusterMeshes, refOf(mesh));
  }

  async ready(mesh: MeshFacts): Promise<ReadyCondition> {
    const { status } = await this.mesh(mesh);
    const found = status?.conditions?.find(({ type }) => type === "Ready");
    return found ?? { status: "", reason: "", message: "" };
  }

  /** Puts the Secret of an entry there unless it is there already. */
  async #connect(mesh: MeshFacts, { secret, cluster }: EntryFacts): Promise<void> {
    if (!secret) return;
    const ref = { namespace: mesh.namespace, name: secret };
    const found = await this.admin(mesh.home).get(secrets, ref).catch(unless("not-found"));
    if (!found) await this.putSecret(mesh, secret, cluster);
  }

  #forgetMesh(mesh: MeshFacts): void {
    this.assume({ meshes: this.facts.meshes.filter((one) => one !== mesh) });
  }
}

/** Throws the error again unless it is of this kind. */
export function unless(kind: "not-found"): (error: unknown) => undefined {
  return (error) => {
    if (!isKubeError(error, kind)) throw error;
    return undefined;
  };
}

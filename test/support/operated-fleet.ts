import { expect } from "vitest";
import { clusterMeshes } from "../../src/api/cluster-mesh.ts";
import { clusterMeshCrd, customResourceDefinitions } from "../../src/api/crd.ts";
import { demoMesh, demoSummary, prepareDemo } from "../../src/cli/demo-mesh.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { type Fleet, type FleetOptions, startFleet } from "../../src/sandbox/fleet.ts";
import type { Sandbox, SandboxCluster } from "../../src/sandbox/sandbox.ts";
import { eventually } from "./eventually.ts";
import { Hearing } from "./hearing.ts";
import { type OperatorRun, type RunningOperator, startOperator } from "./run-operator.ts";

/** Embedded clusters with nodes, and an operator in the first of them. */
export class OperatedFleet {
  readonly #fleet: Fleet;
  readonly #clock: Clock;
  #operator: RunningOperator | undefined;

  static async open(options: FleetOptions & { readonly clock: Clock }): Promise<OperatedFleet> {
    const fleet = await startFleet(options);
    prepareDemo(fleet.sandbox);
    return new OperatedFleet(fleet, options.clock);
  }

  constructor(fleet: Fleet, clock: Clock) {
    this.#fleet = fleet;
    this.#clock = clock;
  }

  get sandbox(): Sandbox {
    return this.#fleet.sandbox;
  }

  cluster(number: number): SandboxCluster {
    const found = this.sandbox.clusters[number];
    if (!found) throw new Error(`no cluster ${number}`);
    return found;
  }

  /** Starts the operator; resolves when meshes can be created. */
  async operate(run: Partial<OperatorRun> = {}): Promise<void> {
    const kubeconfig = this.cluster(0).kubeconfig();
    const usual = { kubeconfig, userAgent: "operator", clock: this.#clock, log: silentLogger, hearing: new Hearing() };
    this.#operator = startOperator({ ...usual, ...run });
    const { name } = clusterMeshCrd().metadata;
    await eventually(() => this.cluster(0).store.get(customResourceDefinitions, { name }));
  }

  /** Creates the mesh of all clusters; resolves when it is ready. */
  async join(): Promise<void> {
    this.cluster(0).store.create(clusterMeshes, demoMesh(this.sandbox));
    await eventually(() => expect(demoSummary(this.sandbox).ready).toBe(true));
  }

  async stop(): Promise<void> {
    await this.#operator?.stop();
    await this.#fleet.stop();
  }
}

import { afterAll, beforeAll, describe, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../../e2e/control-plane/control-plane.ts";
import type { RealCluster } from "../../e2e/control-plane/real-cluster.ts";
import { type ContractServer, connectServer } from "./contract-server.ts";
import { forgetHistoryOf } from "./forget-history.ts";
import { realOnlyCases } from "./real-only-cases.ts";
import { testContract } from "./test-contract.ts";

const versions = [
  ["real-1.28", "oldest"],
  ["real-1.36", "newest"],
] as const;

describe.each(versions)("%s", (name, version) => {
  let controlPlane: ControlPlane;
  let cluster: RealCluster;
  let server: ContractServer;

  beforeAll(async () => {
    controlPlane = await startControlPlane({ clusters: 1, version, controllerManager: true });
    [cluster] = controlPlane.clusters as [RealCluster];
    const forgetHistory = () => forgetHistoryOf(controlPlane.directory);
    server = connectServer({ name, kubeconfig: cluster.adminKubeconfig, forgetHistory });
  });

  afterAll(async () => {
    server?.close();
    await controlPlane?.stop();
  });

  testContract(() => server);

  describe("what the sandbox does not have", () => {
    for (const { title, run } of realOnlyCases) test.concurrent(title, () => run(server, cluster));
  });
});

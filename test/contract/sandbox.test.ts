import { afterAll, beforeAll, describe } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { type ContractServer, connectServer } from "./contract-server.ts";
import { testContract } from "./test-contract.ts";

describe("sandbox", () => {
  let sandbox: Sandbox;
  let server: ContractServer;

  beforeAll(async () => {
    sandbox = await startSandbox({ clusters: ["contract"] });
    const cluster = sandbox.cluster("contract");
    const forgetHistory = async () => cluster.compact();
    server = connectServer({ name: "sandbox", kubeconfig: cluster.kubeconfig(), forgetHistory });
  });

  afterAll(async () => {
    server?.close();
    await sandbox?.stop();
  });

  testContract(() => server);
});

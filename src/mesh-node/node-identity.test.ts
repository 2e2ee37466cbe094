import { Command } from "commander";
import { describe, expect, it } from "vitest";
import type { Environment } from "./config/flag-words.ts";
import { addNodeFlags } from "./config/flags.ts";
import { readConfig } from "./config/read-config.ts";
import { deriveEndpointId } from "./identity.ts";
import { identityOf, type NodeIdentity } from "./node-identity.ts";

const key = Buffer.alloc(32, 0x2a);

function identity(words: readonly string[], env: Environment = {}): NodeIdentity {
  const command = addNodeFlags(new Command()).exitOverride();
  command.parse([...words], { from: "user" });
  return identityOf(readConfig(command, env));
}

const withKey = ["--shared-key", key.toString("base64")];
const inCluster = [...withKey, "--discovery-mode", "kubernetes"];

describe("who a node is", () => {
  it("follows from the key and its name, the same at each start", () => {
    const id = deriveEndpointId(key, "node-a");
    expect(identity([...withKey, "--node-id", "node-a"]).id).toBe(id);
    expect(identity([...withKey, "--node-id", "node-a"], { POD_NAME: "pod-1" }).id).toBe(id);
    expect(identity([...withKey, "--node-id", "node-b"]).id).not.toBe(id);
  });

  it("follows from the pod's name in a cluster, for the others know no other name of it", () => {
    const { id, podName } = identity([...inCluster, "--node-id", "node-a"], { POD_NAME: "pod-1" });
    expect({ id, podName }).toEqual({ id: deriveEndpointId(key, "pod-1"), podName: "pod-1" });
    expect(identity([...inCluster, "--node-id", "node-a"]).id).toBe(deriveEndpointId(key, "node-a"));
  });

  it("is new at each start without a key, and then it can derive nobody", () => {
    const [one, other] = [identity(["--node-id", "node-a"]), identity(["--node-id", "node-a"])];
    expect(one.id).not.toBe(other.id);
    expect(one.derive).toBeUndefined();
    expect(identity(withKey).derive?.("pod-2")).toBe(deriveEndpointId(key, "pod-2"));
  });
});

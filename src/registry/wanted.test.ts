import { describe, expect, it } from "vitest";
import { aMesh } from "../../test/support/build.ts";
import { clusterName, meshId } from "../core/ids.ts";
import { Rotations } from "./rotations.ts";
import { type SecretState, wantedConnections } from "./wanted.ts";

const kubeconfig = (token: string): string =>
  JSON.stringify({
    "current-context": "x",
    contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
    clusters: [{ name: "x", cluster: { server: "https://api.example.org:6443" } }],
    users: [{ name: "x", user: { token } }],
  });

const secretWith = (text: string, key = "kubeconfig"): SecretState => ({
  state: "known",
  data: { [key]: Buffer.from(text).toString("base64") },
});

const rotations = (): Rotations =>
  new Rotations({ isOpen: () => false, isKnown: () => false, isConnecting: () => true });

const mesh = aMesh(2);
const wish = { id: mesh.id, namespace: mesh.namespace, mesh, ledger: [] };
const secondOf = (secret: SecretState) =>
  wantedConnections({
    wishes: [wish],
    secret: () => secret,
    allow: new Set(),
    rotations: rotations(),
  }).meshes[0]?.connections.get(clusterName("c2"));

describe("where an entry leads", () => {
  it.each<[string, SecretState, string | undefined]>([
    ["SecretMissing", { state: "missing" }, "there is no Secret kilo-system/c2"],
    ["SecretUnknown", { state: "unknown" }, undefined],
    ["SecretKeyMissing", secretWith(kubeconfig("t"), "other"), "there is no key kubeconfig"],
    ["KubeconfigInvalid", secretWith("nonsense"), "kubeconfig: must be an object"],
  ])("is unknown with %s", (reason, secret, detail) => {
    expect(secondOf(secret)).toEqual({ state: "unknown", reason, ...(detail && { detail }) });
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
    "is unknown for the key %s, which no Secret has",
    (key) => {
      const [local, second] = mesh.entries;
      if (!local || !second) throw new Error("unreachable");
      const named = { ...mesh, entries: [local, { ...second, reach: { name: "c2", key } }] };
      const { meshes } = wantedConnections({
        wishes: [{ ...wish, mesh: named }, wish],
        secret: () => secretWith(kubeconfig("t")),
        allow: new Set(),
        rotations: rotations(),
      });
      const seconds = meshes.map(({ connections }) => connections.get(clusterName("c2")));
      expect(seconds).toMatchObject([{ state: "unknown", reason: "SecretKeyMissing" }, { state: "connected" }]);
    },
  );

  it("is unknown where reading the Secret goes wrong, and others lead where they led", () => {
    const broken = Object.defineProperty({}, "kubeconfig", {
      get: () => {
        throw new Error("planted-secret");
      },
    });
    const { meshes } = wantedConnections({
      wishes: [{ ...wish, namespace: "other" }, wish],
      secret: (namespace) => (namespace === "other" ? { state: "known", data: broken } : secretWith(kubeconfig("t"))),
      allow: new Set(),
      rotations: rotations(),
    });
    const seconds = meshes.map(({ connections }) => connections.get(clusterName("c2")));
    expect(seconds).toMatchObject([{ state: "unknown", reason: "KubeconfigInvalid" }, { state: "connected" }]);
    expect(JSON.stringify(seconds)).not.toContain("planted-secret");
  });

  it("is named by what the kubeconfig contains: the same for the same, another for another token", () => {
    const first = secondOf(secretWith(kubeconfig("one")));
    expect(first).toMatchObject({ state: "connected" });
    expect(secondOf(secretWith(kubeconfig("one")))).toEqual(first);
    expect(secondOf(secretWith(kubeconfig("two")))).not.toEqual(first);
  });

  it("never says a credential, not even when the kubeconfig is refused", () => {
    const broken = kubeconfig("planted-token").replace("https://", "http://");
    expect(JSON.stringify(secondOf(secretWith(broken)))).not.toContain("planted-token");
  });

  it("asks only for Secrets of the mesh's own namespace", () => {
    const asked: string[] = [];
    const secret = (namespace: string, name: string): SecretState => {
      asked.push(`${namespace}/${name}`);
      return { state: "missing" };
    };
    wantedConnections({ wishes: [wish], secret, allow: new Set(), rotations: rotations() });
    expect(asked).toEqual(["kilo-system/c2"]);
  });
});

describe("a ledger", () => {
  it("keeps a connection that the spec no longer asks for, also of a mesh that is being deleted", () => {
    const row = { cluster: clusterName("gone"), reach: { name: "s", key: "kubeconfig" } };
    const id = meshId("kilo-system", "deleted");
    const { ledgers, remote, meshes } = wantedConnections({
      wishes: [{ id, namespace: "kilo-system", ledger: [row] }],
      secret: () => secretWith(kubeconfig("t")),
      allow: new Set(),
      rotations: rotations(),
    });
    expect(remote.size).toBe(1);
    expect(meshes).toEqual([]);
    expect(ledgers.get(id)).toMatchObject([{ cluster: "gone", connection: { state: "connected" } }]);
  });
});

import { describe, expect, it } from "vitest";
import { finalizers, play } from "../../test/support/tended-mesh.ts";

describe("a new mesh", () => {
  it("gets its finalizer and its ledger before anything else", async () => {
    const { writes, outcome } = play({});
    await outcome;
    expect(writes.slice(0, 2)).toEqual([
      'metadata {"resourceVersion":"7","finalizers":["kilo-clustermesh.io/cleanup"]}',
      'status {"ledger":[{"cluster":"c1"},{"cluster":"c2","kubeconfigSecretRef":{"name":"c2","key":"kubeconfig"}}]}',
    ]);
  });

  it("that has its finalizer gets rows of its ledger only on the version that it was read at", async () => {
    const { writes, outcome } = play({ metadata: { finalizers } });
    await outcome;
    expect(writes[0]).toMatch(/^status \{"ledger":.* on 7$/);
  });

  it("that is refused gets neither: nobody has served it", async () => {
    const { writes, outcome } = play({ spec: { clusters: [] } });
    await outcome;
    expect(writes).toHaveLength(1);
    expect(writes[0]).toMatch(/^status .*"type":"Accepted".*"status":"False"/);
    expect(writes[0]).not.toContain("ledger");
  });

  it("that is refused, and was not always, keeps its finalizer", async () => {
    const status = { ledger: [{ cluster: "c1" }] };
    const { writes, outcome } = play({ spec: { clusters: [] }, status });
    await outcome;
    expect(writes[0]).toContain('"finalizers":["kilo-clustermesh.io/cleanup"]');
  });

  it("keeps the finalizers of others", async () => {
    const { writes, outcome } = play({ metadata: { finalizers: ["theirs"] } });
    await outcome;
    expect(writes[0]).toContain('["theirs","kilo-clustermesh.io/cleanup"]');
  });
});

import { describe, expect, it } from "vitest";
import { type ConnectionId, connectionId } from "../core/ids.ts";
import { type Lead, Rotations } from "./rotations.ts";

const lead = (name: string): Lead => ({
  id: connectionId(name),
  config: { server: `https://${name}.example.org` } as Lead["config"],
});

type Stage = "connecting" | "known" | "failed" | "closed";

function rotations(stages: Record<string, Stage>): Rotations {
  const stageOf = (id: ConnectionId): Stage => stages[id] ?? "closed";
  return new Rotations({
    isOpen: (id) => stageOf(id) !== "closed",
    isKnown: (id) => stageOf(id) === "known",
    isConnecting: (id) => stageOf(id) === "connecting" || stageOf(id) === "closed",
  });
}

describe("a Secret whose kubeconfig changed", () => {
  it("goes on through the old connection until the new one is known", () => {
    const stages: Record<string, Stage> = { old: "known" };
    const found = rotations(stages);
    found.lead("ns/s/k", lead("old"));
    expect(found.lead("ns/s/k", lead("new")).id).toBe("old");
    expect(found.isWaiting).toBe(true);
    stages.new = "connecting";
    expect(found.lead("ns/s/k", lead("new")).id).toBe("old");
    stages.new = "known";
    expect(found.lead("ns/s/k", lead("new")).id).toBe("new");
    expect(found.isWaiting).toBe(false);
    expect(found.before("ns/s/k")).toBe("old");
  });

  it.each<[string, Record<string, Stage>]>([
    ["the new one has failed: its failure is the truth", { old: "known", new: "failed" }],
    ["the old one is not known any more", { old: "failed", new: "connecting" }],
  ])("takes the new connection at once when %s", (_, stages) => {
    const found = rotations(stages);
    found.lead("ns/s/k", lead("old"));
    expect(found.lead("ns/s/k", lead("new")).id).toBe("new");
  });

  it("leaves other Secrets alone", () => {
    const found = rotations({ old: "known" });
    found.lead("ns/a/k", lead("old"));
    expect(found.lead("ns/b/k", lead("new")).id).toBe("new");
    expect(found.before("ns/b/k")).toBeUndefined();
  });

  it("forgets where it led when that is closed, or nobody names the Secret", () => {
    const stages: Record<string, Stage> = { old: "known", new: "known" };
    const found = rotations(stages);
    found.lead("ns/s/k", lead("old"));
    found.lead("ns/s/k", lead("new"));
    stages.old = "closed";
    expect(found.before("ns/s/k")).toBeUndefined();
    expect(found.hasLedElsewhere("ns/s/k")).toBe(true);
    expect(found.last("ns/s/k")).toBe("new");
    found.retain(new Set());
    expect(found.hasLedElsewhere("ns/s/k")).toBe(false);
    expect(found.last("ns/s/k")).toBeUndefined();
  });
});

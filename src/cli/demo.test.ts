import { expect, it } from "vitest";
import { invitation } from "./demo.ts";

const files = ["/tmp/a", "/tmp/b"];
const commandsOf = (nodes: number): string[] => invitation(files, nodes).filter((line) => line.includes("kubectl"));

it("the demo invites to change nodes that it has, and to none where it has none", () => {
  expect(commandsOf(2)).toContain("  kubectl --kubeconfig /tmp/b delete node cluster-b-2");
  expect(commandsOf(0).join()).not.toContain(" node ");
});

it("the demo says what looks broken there and is not", () => {
  const text = invitation(files, 3).join("\n");
  expect(text).toMatch(/LINKS stay at 0/);
  expect(text).toMatch(/half a minute later/);
});

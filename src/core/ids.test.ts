import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { clusterName, nodeName, peerName, publicKey } from "./ids.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const nameOf = (mesh: string, source: string, node: string): string =>
  peerName({ mesh, source: clusterName(source), node: nodeName(node) }, sha256);

describe("the name of a Peer", () => {
  it("joins mesh, cluster and node", () => {
    expect(nameOf("my-mesh", "cluster-b", "worker-1.example")).toBe("my-mesh--cluster-b--worker-1.example");
  });

  it("has only characters that a name may have", () => {
    expect(nameOf("Mesh", "b", "Node_1.")).toBe("mesh--b--node-1");
  });

  it("is cut and marked with a hash of the whole when it is too long", () => {
    const name = nameOf("m", "c", "n".repeat(300));
    expect(name).toHaveLength(253);
    expect(name.slice(-17)).toBe(`-${sha256(`m--c--${"n".repeat(300)}`).slice(0, 16)}`);
  });
});

describe("a public key", () => {
  it.each([
    ["heIVX4UAeKBfTRahKlstNzYijF8h20oyE0WacBZSjlg=", true],
    ["heIVX4UAeKBfTRahKlstNzYijF8h20oyE0WacBZSjlh=", false],
    ["heIVX4UAeKBfTRahKlstNzYijF8h20oyE0WacBZSjlg", false],
    ["", false],
    ["not a key", false],
  ])("%j is one: %s", (text, expected) => {
    expect(publicKey(text) !== undefined).toBe(expected);
  });
});

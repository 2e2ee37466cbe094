import { describe, expect, it } from "vitest";
import { aMesh, aNode } from "../../test/support/build.ts";
import type { MeshEntry } from "./mesh.ts";
import { hostsOf } from "./routes.ts";

const [, entry] = aMesh(2, {}).entries;
if (!entry) throw new Error("unreachable");
const flat: MeshEntry = { ...entry, networks: { form: "flat", allowed: [] } };

describe("the addresses of a node in the flat form", () => {
  it("are all routed", () => {
    const node = aNode(2, 0, { internalIps: ["172.16.2.1", "8.8.8.8", "fd00::1"] });
    expect(hostsOf(flat, node).map(({ text }) => text)).toEqual(["172.16.2.1/32", "8.8.8.8/32", "fd00::1/128"]);
  });

  it.each(["169.254.169.254", "127.0.0.1", "224.0.0.1", "0.0.0.0", "255.255.255.255", "::1", "fe80::1", "ff02::1"])(
    "are not routed where no other machine can be: %s",
    (address) => {
      expect(hostsOf(flat, aNode(2, 0, { internalIps: [address] }))).toEqual([]);
    },
  );
});

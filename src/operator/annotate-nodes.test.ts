import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aMesh, aNode, aView, aWorld, conn } from "../../test/support/build.ts";
import { aKubeError } from "../../test/support/scripted-client.ts";
import { type ConnectionId, nodeName } from "../core/ids.ts";
import type { NodeFacts } from "../core/node.ts";
import type { KubeClient, MergePatch } from "../kube/client.ts";
import type { ObjectRef } from "../kube/object.ts";
import type { Resource } from "../kube/resource.ts";
import { type Logger, silentLogger } from "../runtime/log.ts";
import type { Outcome } from "../runtime/outcome.ts";
import { annotateNodes, type NodeAccess } from "./annotate-nodes.ts";

interface Written {
  readonly resource: string;
  readonly name: string;
  readonly body: {
    readonly metadata: {
      readonly resourceVersion: string;
      readonly annotations: Readonly<Record<string, string | null>>;
    };
  };
}

interface Scene {
  readonly nodes: readonly NodeFacts[];
  readonly keepalive: number;
  readonly floor: number;
  readonly inMesh?: boolean;
  readonly refuse?: "forbidden" | "conflict";
}

async function annotate({ nodes, keepalive, floor, inMesh = true, refuse }: Scene) {
  const written: Written[] = [];
  const warnings: string[] = [];
  const patch = async (resource: Resource, { name }: ObjectRef, { body }: MergePatch): Promise<never> => {
    if (refuse) throw aKubeError(refuse, "patch");
    written.push({ resource: resource.plural, name, body: body as Written["body"] });
    return {} as never;
  };
  const meshes = inMesh ? [aMesh(2, { persistentKeepalive: keepalive })] : [];
  const world = aWorld({ meshes, views: [aView([aNode(1, 0)]), aView(nodes)] });
  const told: (string | undefined)[] = [];
  const log: Logger = { ...silentLogger, warn: (_, fields) => void warnings.push(JSON.stringify(fields)) };
  const client = { patch: patch as unknown as KubeClient["patch"] };
  const connection = (): NodeAccess => ({ client, nodeVersion: (name) => `version of ${name}` });
  const tell = (_: ConnectionId, command: string | undefined): void => void told.push(command);
  const ports = { observe: () => world, connection, flagSeconds: floor, tell, log };
  const outcome: Outcome = await annotateNodes(conn(2), ports);
  return { written, warnings, told, outcome };
}

const ownAnnotations = new Set(["kilo.squat.ai/persistent-keepalive", "kilo-clustermesh.io/node-keepalive"]);

const anyNode = fc
  .record({
    wireguardIp: fc.constantFrom("", "10.200.2.1/24"),
    forceEndpoint: fc.constantFrom("", "198.51.100.20:51820", "nonsense"),
    clustermeshEndpoint: fc.constantFrom("", "192.0.2.9:1"),
    kiloEndpoint: fc.constantFrom("", "172.16.2.1:51820"),
    externalIps: fc.constantFrom([], ["203.0.113.5"]),
    keepalive: fc.constantFrom("", "10", "25", "7"),
    keepaliveMark: fc.constantFrom("", "10", "25", "me/10", "me/25", "they/25"),
    granularity: fc.constantFrom("full", "location"),
  })
  .map((facts) => aNode(2, 0, facts));

describe("what is written on nodes", () => {
  it("R14: is our keepalive and its mark, and never an endpoint, whatever the node lacks", async () => {
    const scene = fc.record({
      nodes: fc
        .array(anyNode, { maxLength: 3 })
        .map((nodes) => nodes.map((node, index) => ({ ...node, name: nodeName(`n${index}`) }))),
      keepalive: fc.constantFrom(0, 25),
      floor: fc.constantFrom(0, 10),
      inMesh: fc.boolean(),
    });
    let writes = 0;
    await fc.assert(
      fc.asyncProperty(scene, async (drawn) => {
        const { written } = await annotate(drawn);
        writes += written.length;
        for (const { resource, body, ...rest } of written) {
          expect(resource).toBe("nodes");
          expect([Object.keys(rest), Object.keys(body), Object.keys(body.metadata)]).toEqual([
            ["name"],
            ["metadata"],
            ["resourceVersion", "annotations"],
          ]);
          expect(Object.keys(body.metadata.annotations).filter((key) => !ownAnnotations.has(key))).toEqual([]);
        }
      }),
    );
    expect(writes).toBeGreaterThan(0);
  });

  it("R14: is written in this one place", () => {
    const sources = readdirSync("src/operator", { encoding: "utf8" }).filter((file) => !file.endsWith(".test.ts"));
    const writers = sources.filter((file) =>
      /\.(?:patch|replace|create|delete)\(\s*nodes\b/.test(readFileSync(`src/operator/${file}`, "utf8")),
    );
    expect(writers).toEqual(["annotate-nodes.ts"]);
  });

  it("goes node by node, and ends when there is nothing left to write", async () => {
    const nodes = [aNode(2, 0), aNode(2, 1)];
    const { written, outcome } = await annotate({ nodes, keepalive: 25, floor: 0 });
    expect(written.map(({ name }) => name)).toEqual(["c2-n0"]);
    expect(outcome.kind).toBe("waiting");
    expect(written[0]?.body.metadata.resourceVersion).toBe("version of c2-n0");
    expect(written[0]?.body.metadata.annotations).toEqual({
      "kilo.squat.ai/persistent-keepalive": "25",
      "kilo-clustermesh.io/node-keepalive": "me/25",
    });
    const ours = nodes.map((node) => ({ ...node, keepalive: "25", keepaliveMark: "me/25" }));
    const later = await annotate({ nodes: ours, keepalive: 25, floor: 0 });
    expect([later.written, later.outcome.kind]).toEqual([[], "done"]);
  });

  it("is judged anew where somebody has changed the node meanwhile: that is no failure", async () => {
    const { warnings, told, outcome } = await annotate({
      nodes: [aNode(2, 0)],
      keepalive: 25,
      floor: 0,
      refuse: "conflict",
    });
    expect([outcome.kind, warnings, told]).toEqual(["waiting", [], []]);
  });

  it("is told as a command where the right to patch nodes is missing", async () => {
    const ours = aNode(2, 0, { keepalive: "10", keepaliveMark: "me/10" });
    const scene = { nodes: [ours, aNode(2, 1)], keepalive: 25, floor: 0 };
    const { warnings, told, outcome } = await annotate({ ...scene, refuse: "forbidden" });
    const command = "kubectl annotate nodes --all kilo.squat.ai/persistent-keepalive=25";
    expect(warnings.join()).toContain(command);
    expect(told).toEqual([command]);
    expect(outcome.kind).toBe("waiting");
    expect((await annotate(scene)).told).toEqual([undefined]);
  });

  it("is told as no command where it would not do: what is there already it cannot change", async () => {
    const nodes = [aNode(2, 0, { keepalive: "10", keepaliveMark: "me/10" })];
    for (const inMesh of [true, false])
      expect((await annotate({ nodes, keepalive: 25, floor: 0, refuse: "forbidden", inMesh })).told).toEqual([
        undefined,
      ]);
  });
});

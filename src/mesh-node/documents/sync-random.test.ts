import fc from "fast-check";
import { expect, it } from "vitest";
import { DocumentMesh, type DocumentNode, type Wire } from "../../../test/support/document-mesh.ts";

type Step =
  | { readonly kind: "put"; readonly node: number; readonly id: string; readonly field: string; readonly value: number }
  | { readonly kind: "delete"; readonly node: number; readonly id: string }
  | { readonly kind: "link" | "cut"; readonly node: number; readonly other: number }
  | { readonly kind: "turns"; readonly count: number };

const nodeIndex = fc.nat({ max: 3 });
const id = fc.constantFrom("x", "y", "z");
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      node: nodeIndex,
      id,
      field: fc.constantFrom("a", "b"),
      value: fc.nat({ max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), node: nodeIndex, id }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom("link" as const, "cut" as const), node: nodeIndex, other: nodeIndex }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("turns" as const), count: fc.nat({ max: 30 }) }) },
);

it("nodes that change, delete, link and part in any order have the same documents when they are linked", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const mesh = new DocumentMesh();
      try {
        const nodes = await mesh.startMany(4);
        await play(mesh, nodes, steps);
        await chain(mesh, nodes);
        const [first, ...others] = await Promise.all(nodes.map((node) => node.content()));
        for (const other of others) expect(other).toEqual(first);
        expect(nodes.map(({ sync }) => sync.stats().reconciling)).toEqual([0, 0, 0, 0]);
      } finally {
        await mesh.close();
      }
    }),
    { numRuns: 25, endOnFailure: true },
  );
}, 120_000);

async function play(mesh: DocumentMesh, nodes: readonly DocumentNode[], steps: readonly Step[]): Promise<void> {
  const wires = new Map<string, Wire>();
  for (const at of steps) {
    if (at.kind === "turns") await mesh.clock.settle(at.count);
    else if (at.kind === "put") await put(nodes[at.node], at);
    else if (at.kind === "delete") await nodes[at.node]?.store.delete("c", at.id);
    else join(mesh, wires, { one: nodes[at.node], other: nodes[at.other], isCut: at.kind === "cut" });
  }
  for (const wire of wires.values()) wire.cut();
}

/** Changes one field and leaves the others. */
async function put(node: DocumentNode | undefined, { id: which, field, value }: Step & { kind: "put" }): Promise<void> {
  const held = (await node?.content())?.[which] as object | undefined;
  await node?.store.put("c", which, JSON.stringify({ ...held, [field]: value }));
}

interface Join {
  readonly one: DocumentNode | undefined;
  readonly other: DocumentNode | undefined;
  readonly isCut: boolean;
}

function join(mesh: DocumentMesh, wires: Map<string, Wire>, { one, other, isCut }: Join): void {
  if (!one || !other || one.id >= other.id) return;
  const name = `${one.id}-${other.id}`;
  wires.get(name)?.cut();
  wires.delete(name);
  if (!isCut) wires.set(name, mesh.link(one, other));
}

/** The longest way: each is linked to the next only. */
async function chain(mesh: DocumentMesh, nodes: readonly DocumentNode[]): Promise<void> {
  for (const [index, one] of nodes.entries()) {
    const next = nodes[index + 1];
    if (next) mesh.link(one, next);
  }
  await mesh.quiet();
}

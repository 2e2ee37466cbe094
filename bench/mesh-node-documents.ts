import { setTimeout as delay } from "node:timers/promises";
import type { NodeProcess } from "../test/mesh-node/node-process.ts";
import { parseExposition } from "../test/support/exposition.ts";

const inFlight = 32;
const pollMs = 20;

/** Of about 200 bytes, with a nested object, under an id of its own. */
function aDocument(collection: string, n: number) {
  const position = { lat: n / 7, lon: n / 11, altitude: n };
  const jsonData = JSON.stringify({ callsign: `unit-${n}`, position, note: "x".repeat(100), seen: n });
  return { collection, docId: `doc-${n}`, jsonData };
}

/** Puts one after the other; how long each took until it was durable. */
export async function putInTurn(node: NodeProcess, collection: string, count: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n++) {
    const startedMs = performance.now();
    await node.call("PutDocument", aDocument(collection, n));
    times.push(performance.now() - startedMs);
  }
  return times;
}

/** Puts many at once; how long until the last was durable. */
export async function putAtOnce(node: NodeProcess, collection: string, count: number): Promise<number> {
  const startedMs = performance.now();
  let next = 0;
  const putOn = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await node.call("PutDocument", aDocument(collection, n));
  };
  await Promise.all(Array.from({ length: inFlight }, putOn));
  return performance.now() - startedMs;
}

async function countOf(node: NodeProcess): Promise<number> {
  return parseExposition((await node.get("/metrics")).body).value("mesh_node_documents");
}

/** Resolves when every one of them has so many documents. */
export async function untilAllHave(nodes: readonly NodeProcess[], count: number, withinMs: number): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  const missing = new Set(nodes);
  while (missing.size > 0) {
    for (const node of missing) if ((await countOf(node)) >= count) missing.delete(node);
    if (performance.now() > deadlineMs)
      throw new Error(`${missing.size} nodes do not have ${count} documents after ${withinMs / 1000} s`);
    if (missing.size > 0) await delay(pollMs);
  }
}

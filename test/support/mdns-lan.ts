import { createSocket } from "node:dgram";
import { setTimeout as delay } from "node:timers/promises";
import { startMdnsDiscovery } from "../../src/mesh-node/discovery/discover-mdns.ts";
import type { Discovery } from "../../src/mesh-node/discovery/member.ts";
import { deriveEndpointId } from "../../src/mesh-node/identity.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLogger } from "../../src/runtime/log.ts";

/**
 * Run as a program in a network of its own: three nodes on real sockets, the last in another formation, between
 * packets that are no DNS. Prints who sees whom, as JSON: when all have met, and after the second has left.
 */
const key = new Uint8Array(32);
const nodes = [
  { nodeId: "a", formationId: "ours", port: 4001 },
  { nodeId: "b", formationId: "ours", port: 4002 },
  { nodeId: "c", formationId: "theirs", port: 4003 },
];

function start(node: (typeof nodes)[number]): Discovery {
  const self = { ...node, endpointId: deriveEndpointId(key, node.nodeId) };
  return startMdnsDiscovery({
    self,
    intervalMs: 1_000,
    clock: systemClock,
    log: silentLogger,
    onMembers: () => undefined,
  });
}

const sees = (discovery: Discovery) => discovery.members().map(({ name, addresses }) => `${name} ${addresses.join()}`);

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 15_000;
  while (!holds() && performance.now() < end) await delay(20);
}

async function sendNonsense(): Promise<void> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  socket.setMulticastInterface("127.0.0.1");
  const response = Buffer.from("0000840000000001000000000570656174045f756470056c6f63616c00000c00010000", "hex");
  for (let n = 0; n < 300; n++) {
    const bytes = Buffer.from(response);
    for (let flips = 0; flips < 3; flips++) bytes[Math.floor(Math.random() * bytes.length)] = Math.random() * 256;
    await new Promise((resolve) => socket.send(bytes.subarray(0, Math.random() * 40), 5353, "224.0.0.251", resolve));
  }
  socket.close();
}

const running = nodes.map(start);
const [a, b, c] = running as [Discovery, Discovery, Discovery];
await sendNonsense();
await until(() => sees(a).length > 0 && sees(b).length > 0 && c.state().known);
const met = running.map(sees);
await b.close();
await until(() => sees(a).length === 0);
process.stdout.write(JSON.stringify({ met, left: sees(a), states: [a.state(), c.state()] }));
await Promise.all([a.close(), c.close()]);

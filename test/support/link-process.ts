import type { Peer } from "../../src/mesh-node/discovery/roster.ts";
import { deriveSeed } from "../../src/mesh-node/identity.ts";
import { formationOf, linkProtocol } from "../../src/mesh-node/links/formation.ts";
import { createManager } from "../../src/mesh-node/links/manager.ts";
import { listenIroh } from "../../src/mesh-node/transport/iroh.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLogger } from "../../src/runtime/log.ts";

/** A process of its own with one node. Arguments: its name, its address, the peers it wants as JSON. */
const [name = "", address = "", peers = "[]"] = process.argv.slice(2);
const key = new Uint8Array(32).fill(7);
const transport = await listenIroh({ seed: deriveSeed(key, name), address, protocol: linkProtocol });
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const manager = createManager({
  transport,
  formation: formationOf("formation", key),
  clock: systemClock,
  log: silentLogger,
  handler: {
    up: (link) => say({ up: link.peer }),
    receive: async (link, frame) => link.send(frame),
    down: (link) => say({ down: link.peer }),
  },
});
say({ id: transport.id, address: transport.address });
manager.want(JSON.parse(peers) as Peer[]);

process.once("SIGTERM", () => void manager.close());

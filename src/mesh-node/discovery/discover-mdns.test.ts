import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { fieldLogger, type LogLine } from "../../../test/support/field-logger.ts";
import { deriveEndpointId } from "../identity.ts";
import { startMdnsDiscovery } from "./discover-mdns.ts";
import type { Mdns, MdnsListener } from "./mdns.ts";
import type { Announcement, InstanceRecord } from "./mdns-record.ts";
import type { Member } from "./member.ts";

const key = new Uint8Array(32);
const self = { endpointId: deriveEndpointId(key, "a"), nodeId: "a", formationId: "ours", port: 4001 };

function aRecord(nodeId: string, overrides: Partial<InstanceRecord> = {}): InstanceRecord {
  const txt = { node_id: deriveEndpointId(key, nodeId), formation_id: "ours" };
  return { instance: `peat-${nodeId}`, port: 4002, addresses: ["192.168.1.7"], txt, ...overrides };
}

/** A LAN in the test's hands. */
class ScriptedLan {
  readonly announced: Announcement[] = [];
  readonly problems: (Error | undefined)[] = [];
  listener: MdnsListener | undefined;
  sweeps = 0;
  opened = 0;
  closed = 0;

  open = async (listener: MdnsListener): Promise<Mdns> => {
    const problem = this.problems.shift();
    if (problem) throw problem;
    this.opened++;
    this.listener = listener;
    return {
      announce: (announcement) => this.announced.push(announcement),
      sweep: () => this.sweeps++,
      close: async () => void this.closed++,
    };
  };
}

function aDiscovery(lan = new ScriptedLan()) {
  const clock = new FakeClock();
  const lines: LogLine[] = [];
  const told: (readonly Member[])[] = [];
  const discovery = startMdnsDiscovery({
    self,
    intervalMs: 30_000,
    clock,
    log: fieldLogger(lines),
    random: () => 1,
    open: lan.open,
    onMembers: (members) => told.push(members),
  });
  const names = () => discovery.members().map(({ name }) => name);
  const warnings = () => lines.filter(({ level }) => level === "warn");
  return { lan, clock, told, discovery, names, warnings };
}

describe("discovery on the LAN", () => {
  test("announces this node, asks at once and soon again, then at every interval", async () => {
    const { lan, clock, discovery } = aDiscovery();
    await clock.settle();
    expect(lan.announced).toEqual([
      { instance: "peat-a", port: 4001, txt: { node_id: self.endpointId, port: "4001", formation_id: "ours" } },
    ]);
    await clock.advance(3_500);
    expect(lan.sweeps).toBe(3);
    expect(discovery.state()).toEqual({ known: true });
    await clock.advance(60_000);
    expect(lan.sweeps).toBe(5);
    await discovery.close();
    expect([lan.closed, clock.sleeping]).toEqual([1, 0]);
  });

  test("tells who is there, and every change once", async () => {
    const { lan, clock, told, names, discovery } = aDiscovery();
    await clock.settle();
    lan.listener?.seen(aRecord("c"));
    lan.listener?.seen(aRecord("b"));
    lan.listener?.seen(aRecord("b"));
    expect(names()).toEqual(["peat-b", "peat-c"]);
    expect(told).toHaveLength(2);
    lan.listener?.seen(aRecord("b", { addresses: ["192.168.1.99"] }));
    expect(discovery.members()[0]?.addresses).toEqual(["192.168.1.99:4002"]);
    expect(told).toHaveLength(3);
    await discovery.close();
  });

  test("leaves itself and other formations out", async () => {
    const { lan, clock, told, discovery } = aDiscovery();
    await clock.settle();
    lan.listener?.seen(aRecord("a"));
    lan.listener?.seen(aRecord("b", { txt: { ...aRecord("b").txt, formation_id: "theirs" } }));
    expect(told).toEqual([]);
    await discovery.close();
  });

  test("keeps two nodes of one name apart", async () => {
    const { lan, clock, names, discovery } = aDiscovery();
    await clock.settle();
    lan.listener?.seen(aRecord("b"));
    lan.listener?.seen(aRecord("c", { instance: "peat-b" }));
    expect(names()).toEqual(["peat-b", "peat-b"]);
    await discovery.close();
  });

  test("lets go at once of who says goodbye, and after some unanswered questions of who does not answer", async () => {
    const { lan, clock, names, discovery } = aDiscovery();
    await clock.settle();
    for (const nodeId of ["b", "c", "d"]) lan.listener?.seen(aRecord(nodeId));
    lan.listener?.gone("peat-b");
    expect(names()).toEqual(["peat-c", "peat-d"]);
    await clock.advance(100_000);
    lan.listener?.seen(aRecord("d"));
    expect(names()).toEqual(["peat-c", "peat-d"]);
    await clock.advance(60_000);
    expect(names()).toEqual(["peat-d"]);
    await discovery.close();
  });

  test("remembers no more than a thousand, whoever invents them", async () => {
    const { lan, clock, names, discovery } = aDiscovery();
    await clock.settle();
    for (let n = 0; n < 1_010; n++) lan.listener?.seen(aRecord("b", inventedIdentity(n)));
    expect(names()).toHaveLength(1_000);
    await discovery.close();
  });

  test("starts where multicast fails, says so once, keeps whom it knows, and works when multicast does", async () => {
    const lan = new ScriptedLan();
    lan.problems.push(new Error("bind EACCES"), new Error("bind EACCES"));
    const { clock, discovery, names, warnings } = aDiscovery(lan);
    await clock.settle();
    expect(discovery.state()).toEqual({ known: false, problem: "MulticastFailed: bind EACCES" });
    await clock.advance(10_000);
    expect(discovery.state()).toEqual({ known: true });
    expect(warnings()).toHaveLength(1);
    lan.listener?.seen(aRecord("b"));
    lan.listener?.failed("socket closed");
    await clock.settle();
    expect([names(), discovery.state().known, lan.closed]).toEqual([["peat-b"], false, 1]);
    await clock.advance(10_000);
    expect([names(), discovery.state().known, lan.opened]).toEqual([["peat-b"], true, 2]);
    await discovery.close();
  });

  test("says nothing more once it is closed", async () => {
    const { lan, clock, told, discovery } = aDiscovery();
    await clock.settle();
    await Promise.all([discovery.close(), discovery.close()]);
    lan.listener?.seen(aRecord("b"));
    expect(told).toEqual([]);
  });
});

function inventedIdentity(n: number): Partial<InstanceRecord> {
  return { txt: { node_id: n.toString(16).padStart(64, "0"), formation_id: "ours" } };
}

test("real nodes on real multicast sockets meet, and notice who leaves", async ({ skip }) => {
  const isPossible = spawnSync("unshare", ["-Urn", "ip", "link", "set", "lo", "up"]).status === 0;
  if (!isPossible) return skip("no network namespace can be made here without more rights");
  const script = 'ip link set lo up && exec "$0" test/support/mdns-lan.ts';
  const args = ["-Urn", "sh", "-c", script, process.execPath];
  const { stdout } = await promisify(execFile)("unshare", args, { timeout: 60_000 });
  expect(JSON.parse(stdout)).toEqual({
    met: [["peat-b 127.0.0.1:4002"], ["peat-a 127.0.0.1:4001"], []],
    left: [],
    states: [{ known: true }, { known: true }],
  });
}, 60_000);

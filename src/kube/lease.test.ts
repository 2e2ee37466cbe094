import fc from "fast-check";
import { expect, test } from "vitest";
import { NotingLogger } from "../../test/support/an-informer.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { LeaseServer, type Line, leaseClient } from "../../test/support/lease-server.ts";
import { LeaderElection } from "./lease.ts";

function aWorld() {
  const clock = new FakeClock();
  const server = new LeaseServer();
  const candidate = (identity: string) => {
    const line: { state: Line } = { state: "fine" };
    const told: string[] = [];
    const stop = new AbortController();
    const log = new NotingLogger();
    const client = leaseClient(server, line);
    const election = new LeaderElection({
      client,
      namespace: "ns",
      name: "lease",
      identity,
      clock,
      log,
      random: () => 0.5,
    });
    election.onLeading(() => told.push(`leading@${clock.now()}`));
    election.onLost(() => told.push(`lost@${clock.now()}`));
    const ended = election.run(stop.signal);
    const end = async () => {
      stop.abort();
      await clock.advance(5_000);
      await ended;
    };
    return { election, line, told, stop, end, log };
  };
  return { clock, server, candidate };
}

test("a lease that does not exist is created and renewed every two seconds", async () => {
  const { clock, server, candidate } = aWorld();
  const { election, told, end } = candidate("a");
  await clock.advance(60_000);
  expect(told).toEqual(["leading@0"]);
  expect(election.isLeader).toBe(true);
  expect(server.writes).toHaveLength(31);
  expect(server.lease?.spec).toEqual({
    holderIdentity: "a",
    leaseDurationSeconds: 15,
    acquireTime: "2026-01-01T00:00:00.000000Z",
    renewTime: "2026-01-01T00:01:00.000000Z",
    leaseTransitions: 0,
  });
  await end();
});

test("the second waits while the first lives, and takes over when it gives the lease back", async () => {
  const { clock, server, candidate } = aWorld();
  const first = candidate("a");
  await clock.advance(100);
  const second = candidate("b");
  await clock.advance(120_000);
  expect(second.election.isLeader).toBe(false);
  await first.end();
  expect(first.told.at(-1)).toBe("lost@120100");
  expect(server.writes.find(({ spec }) => spec?.holderIdentity === "")?.spec).toMatchObject({
    leaseDurationSeconds: 1,
    leaseTransitions: 0,
  });
  expect(second.election.isLeader).toBe(true);
  expect(server.lease?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  await second.end();
});

test("a candidate knows when the API last told it who leads, and that it has not since the line was cut", async () => {
  const { clock, candidate } = aWorld();
  const first = candidate("a");
  await clock.advance(100);
  const second = candidate("b");
  expect(second.election.answeredAt).toBeUndefined();
  await clock.advance(60_000);
  const heard = second.election.answeredAt ?? 0;
  expect(clock.now() - heard).toBeLessThan(5_000);
  second.line.state = "cut";
  await clock.advance(60_000);
  expect(clock.now() - (second.election.answeredAt ?? 0)).toBeGreaterThan(55_000);
  await second.end();
  await first.end();
});

test("a dead holder is outlived by our own clock, whatever its timestamps say", async () => {
  const { clock, server, candidate } = aWorld();
  server.change({
    holderIdentity: "go-operator_1",
    leaseDurationSeconds: 15,
    renewTime: "2031-01-01T00:00:00.000000Z",
    acquireTime: "2031-01-01T00:00:00.000000Z",
    leaseTransitions: 4,
  });
  const { election, told, end } = candidate("a");
  await clock.advance(14_900);
  expect(election.isLeader).toBe(false);
  await clock.advance(5_000);
  expect(told).toHaveLength(1);
  expect(server.lease?.spec?.leaseTransitions).toBe(5);
  await end();
});

test("a holder whose record changes is alive, though its timestamps never move", async () => {
  const { clock, server, candidate } = aWorld();
  const { election, end } = candidate("a");
  server.change({ holderIdentity: "b", leaseDurationSeconds: 15, leaseTransitions: 0 });
  for (let i = 1; i < 20; i++) {
    await clock.advance(5_000);
    server.change({ holderIdentity: "b", leaseDurationSeconds: 15, leaseTransitions: i });
    expect(election.isLeader).toBe(false);
  }
  await end();
});

test("touching only the metadata of the lease does not keep a dead holder alive", async () => {
  const { clock, server, candidate } = aWorld();
  server.change({ holderIdentity: "dead", leaseDurationSeconds: 15 });
  const { election, end } = candidate("a");
  for (let i = 0; i < 10; i++) {
    await clock.advance(2_000);
    server.change(server.lease?.spec);
  }
  expect(election.isLeader).toBe(true);
  await end();
});

test("fields of the lease that we do not know are carried along", async () => {
  const { clock, server, candidate } = aWorld();
  server.change({ holderIdentity: "", strategy: "OldestEmulationVersion" } as object);
  const { end } = candidate("a");
  await clock.advance(10_000);
  expect(server.lease?.spec).toMatchObject({ holderIdentity: "a", strategy: "OldestEmulationVersion" });
  await end();
});

test.each(["cut", "hang", "deaf"] as const)(
  "with the line %s, leadership ends ten seconds after the last renewal began, before anyone else may lead",
  async (state) => {
    const { clock, candidate } = aWorld();
    const first = candidate("a");
    await clock.advance(100);
    const second = candidate("b");
    await clock.advance(20_000);
    first.line.state = state;
    await clock.advance(11_900);
    expect(first.told).toEqual(["leading@0", "lost@30000"]);
    expect(second.election.isLeader).toBe(false);
    await clock.advance(20_000);
    expect(second.election.isLeader).toBe(true);
    await first.end();
    await second.end();
  },
);

test("a short cut costs nothing", async () => {
  const { clock, candidate } = aWorld();
  const { told, line, election, end } = candidate("a");
  await clock.advance(20_000);
  line.state = "cut";
  await clock.advance(7_000);
  line.state = "fine";
  await clock.advance(60_000);
  expect(told).toEqual(["leading@0"]);
  expect(election.isLeader).toBe(true);
  await end();
});

test("a renewal whose answer was lost is found to be ours", async () => {
  const { clock, server, candidate } = aWorld();
  const { told, line, end } = candidate("a");
  await clock.advance(2_500);
  line.state = "deaf";
  await clock.advance(2_000);
  line.state = "fine";
  await clock.advance(30_000);
  expect(told).toEqual(["leading@0"]);
  expect(server.lease?.spec?.leaseTransitions).toBe(0);
  await end();
});

test("somebody else who writes into our lease is met by reading again, and the lease stays ours", async () => {
  const { clock, server, candidate } = aWorld();
  const { told, end } = candidate("a");
  for (let i = 0; i < 10; i++) {
    await clock.advance(3_000);
    server.change({ ...server.lease?.spec });
  }
  expect(told).toEqual(["leading@0"]);
  await end();
});

test("somebody else who takes the lease by force is obeyed at once", async () => {
  const { clock, server, candidate } = aWorld();
  const { told, election, end } = candidate("a");
  await clock.advance(5_000);
  server.change({ holderIdentity: "b", leaseDurationSeconds: 15, leaseTransitions: 1 });
  await clock.advance(2_000);
  expect(told).toEqual(["leading@0", "lost@6000"]);
  expect(election.validForMs()).toBe(0);
  await end();
});

test("the validity counts down from the start of the last renewal and is zero from the renew deadline on", async () => {
  const { clock, candidate } = aWorld();
  const { election, line, end } = candidate("a");
  await clock.advance(100);
  expect(election.validForMs()).toBe(14_900);
  line.state = "cut";
  await clock.advance(9_800);
  expect(election.validForMs()).toBe(5_100);
  await clock.advance(100);
  expect(election.validForMs()).toBe(0);
  await end();
});

test("a process that was stopped and continued knows at once that it does not lead any more", async () => {
  const { clock, candidate } = aWorld();
  const { election, told, end } = candidate("a");
  await clock.advance(4_500);
  clock.jump(30_000);
  expect(election.validForMs()).toBe(0);
  expect(election.isLeader).toBe(false);
  expect(told).toEqual(["leading@0"]);
  await clock.advance(0);
  expect(told).toEqual(["leading@0", "lost@34500"]);
  await end();
});

test("an answer that arrives after the process was stopped for long does not count", async () => {
  const { clock, server, candidate } = aWorld();
  const { promise, resolve } = Promise.withResolvers<void>();
  const replace = server.replace.bind(server);
  const { election, told, end } = candidate("a");
  await clock.advance(1_000);
  server.replace = (lease) => promise.then(() => replace(lease)) as never;
  await clock.advance(1_000);
  clock.jump(60_000);
  resolve();
  await clock.settle();
  expect(election.isLeader).toBe(false);
  server.replace = replace;
  await clock.advance(10_000);
  expect(told.slice(0, 2)).toEqual(["leading@0", "lost@62000"]);
  await end();
});

test("a process that was stopped while it took the lease does not believe that it leads", async () => {
  const { clock, server, candidate } = aWorld();
  const { promise, resolve } = Promise.withResolvers<void>();
  const create = server.create.bind(server);
  server.create = (lease) => promise.then(() => create(lease)) as never;
  const { told, end } = candidate("a");
  await clock.settle();
  clock.jump(60_000);
  resolve();
  await clock.settle();
  expect(told).toEqual([]);
  await end();
});

test("a slow renewal counts from its start, not from its answer", async () => {
  const { clock, server, candidate } = aWorld();
  const replace = server.replace.bind(server);
  const { election, end } = candidate("a");
  await clock.advance(1_000);
  server.replace = (lease) => clock.sleep(3_000).then(() => replace(lease)) as never;
  await clock.advance(4_000);
  expect(election.validForMs()).toBe(12_000);
  server.replace = replace;
  await end();
});

test("an answer that comes after its own deadline does not count, though the client delivers it", async () => {
  const { clock, server, candidate } = aWorld();
  const replace = server.replace.bind(server);
  const { election, end } = candidate("a");
  await clock.advance(1_000);
  server.replace = (lease) => clock.sleep(5_500).then(() => replace(lease)) as never;
  await clock.advance(6_500);
  expect(election.validForMs()).toBe(7_500);
  server.replace = replace;
  await end();
});

test("stopping in the middle of a renewal still gives the lease back", async () => {
  const { clock, server, candidate } = aWorld();
  const { line, stop, end } = candidate("a");
  await clock.advance(1_900);
  line.state = "deaf";
  await clock.advance(200);
  line.state = "fine";
  stop.abort();
  await clock.settle();
  expect(server.lease?.spec?.holderIdentity).toBe("");
  await end();
});

test("stopping does not wait for a server that is gone, and leaves no timer", async () => {
  const { clock, candidate } = aWorld();
  const { line, end, log } = candidate("a");
  await clock.advance(1_000);
  line.state = "hang";
  await end();
  expect(log.of("warn")).toContain("lease not given back");
  expect(clock.sleeping).toBe(0);
});

test("timings that could let two lead are refused", () => {
  const { clock, server } = aWorld();
  const client = leaseClient(server, { state: "fine" });
  const options = { client, namespace: "ns", name: "lease", identity: "a", clock, log: new NotingLogger() };
  expect(() => new LeaderElection({ ...options, renewDeadlineMs: 15_000 })).toThrow("leaseDurationMs");
});

test("whatever happens to their lines and processes, two never lead at the same time", async () => {
  const step = fc.record({
    who: fc.constantFrom(0, 1, 2),
    line: fc.constantFrom<Line>("fine", "fine", "cut", "hang", "deaf"),
    ms: fc.integer({ min: 100, max: 20_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      const { clock, candidate } = aWorld();
      const all = ["a", "b", "c"].map(candidate);
      for (const { who, line, ms } of steps) {
        const chosen = all[who];
        if (chosen) chosen.line.state = line;
        for (let passed = 0; passed < ms; passed += 500) {
          await clock.advance(500);
          expect(all.filter(({ election }) => election.isLeader).length).toBeLessThan(2);
        }
      }
      for (const { line } of all) line.state = "fine";
      await clock.advance(40_000);
      expect(all.filter(({ election }) => election.isLeader)).toHaveLength(1);
      await Promise.all(all.map(({ end }) => end()));
      expect(clock.sleeping).toBe(0);
    }),
    { numRuns: 15 },
  );
});

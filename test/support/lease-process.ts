import { LeaderElection } from "../../src/kube/lease.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { LeaseServer, leaseClient } from "./lease-server.ts";

/** Leads, says so, and says what it believes in the first moment after it was stopped and continued. */
const election = new LeaderElection({
  client: leaseClient(new LeaseServer(), { state: "fine" }),
  namespace: "ns",
  name: "lease",
  identity: "a",
  clock: systemClock,
  log: silentLogger,
  leaseDurationMs: 2_000,
  renewDeadlineMs: 1_000,
  retryPeriodMs: 200,
});
election.onLeading(() => console.log("leading"));
election.onLost(() => console.log("lost"));
let seen = performance.now();
setInterval(() => {
  if (performance.now() - seen > 1_000) console.log(`valid for ${election.validForMs()}`);
  seen = performance.now();
}, 20);
await election.run(new AbortController().signal);

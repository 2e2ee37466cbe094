/** One request, as an API server has counted it. */
export interface CountedRequest {
  readonly verb: string;
  /** The plural. */
  readonly resource: string;
  readonly userAgent: string;
}

export interface RequestTally {
  readonly peerWrites: number;
  readonly otherWrites: number;
  readonly reads: number;
  /** Of the Lease, which is renewed whatever happens. */
  readonly lease: number;
  /** Watches opened. */
  readonly watches: number;
}

const operatorAgent = "kilo-clustermesh-operator/";
const readVerbs = new Set(["get", "list"]);

/** The operator's requests, by kind. */
export function tallyOf(requests: readonly CountedRequest[]): RequestTally {
  const tally = { peerWrites: 0, otherWrites: 0, reads: 0, lease: 0, watches: 0 };
  for (const request of requests) if (request.userAgent.startsWith(operatorAgent)) tally[kindOf(request)]++;
  return tally;
}

function kindOf({ verb, resource }: CountedRequest): keyof RequestTally {
  if (resource === "leases") return "lease";
  if (verb === "watch") return "watches";
  if (readVerbs.has(verb)) return "reads";
  return resource === "peers" ? "peerWrites" : "otherWrites";
}

/** What came in between. */
export function since(before: RequestTally, after: RequestTally): RequestTally {
  return {
    peerWrites: after.peerWrites - before.peerWrites,
    otherWrites: after.otherWrites - before.otherWrites,
    reads: after.reads - before.reads,
    lease: after.lease - before.lease,
    watches: after.watches - before.watches,
  };
}

/** All but what is there whatever happens: the Lease and the watches that a server ends now and then. */
export const requestsIn = ({ peerWrites, otherWrites, reads }: RequestTally): number =>
  peerWrites + otherWrites + reads;

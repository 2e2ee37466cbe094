import type { KubeObject, ObjectRef } from "./object.ts";
import { type Resource, leases as untypedLeases } from "./resource.ts";

/** What a Lease says. Times are for people: nobody decides by another machine's clock. */
export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface LeaseObject extends KubeObject {
  readonly spec?: LeaseSpec;
}

export const leases = untypedLeases as Resource<LeaseObject>;

/** A time as Kubernetes' MicroTime: always six digits. */
export function microTime(date: Date): string {
  return date.toISOString().replace("Z", "000Z");
}

interface Claim {
  readonly identity: string;
  readonly leaseDurationSeconds: number;
  readonly date: Date;
}

export function newLease(ref: ObjectRef, claim: Claim): LeaseObject {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...ref },
    spec: { ...timesOf(claim), acquireTime: microTime(claim.date), leaseTransitions: 0 },
  };
}

/** The lease as it is to be written: renewed if it is ours already, else taken over. */
export function claimedLease(lease: LeaseObject, claim: Claim): LeaseObject {
  const before = lease.spec ?? {};
  const ours = before.holderIdentity === claim.identity;
  return {
    ...lease,
    spec: {
      ...before,
      ...timesOf(claim),
      acquireTime: (ours && before.acquireTime) || microTime(claim.date),
      leaseTransitions: (before.leaseTransitions ?? 0) + (ours ? 0 : 1),
    },
  };
}

/** The lease without a holder, so that the next one need not wait for its end. */
export function releasedLease(lease: LeaseObject, date: Date): LeaseObject {
  const now = microTime(date);
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now },
  };
}

function timesOf({ identity, leaseDurationSeconds, date }: Claim): LeaseSpec {
  return { holderIdentity: identity, leaseDurationSeconds, renewTime: microTime(date) };
}

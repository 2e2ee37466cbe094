import { type FieldProblem, invalidValue } from "./field-problem.ts";
import { mapOf } from "./json.ts";
import { requireInteger, requireMicroTime } from "./unreadable.ts";
import type { WireObject } from "./wire-object.ts";

/** Throws `BadRequest` for a Lease whose fields are of other types. */
export function decodeLease(lease: WireObject): void {
  const spec = mapOf(lease.spec);
  for (const field of ["acquireTime", "renewTime"]) requireMicroTime(lease, spec[field]);
  for (const field of ["leaseDurationSeconds", "leaseTransitions"]) {
    requireInteger(lease, `LeaseSpec.spec.${field}`, spec[field]);
  }
}

export function validateLease(lease: WireObject): FieldProblem[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = mapOf(lease.spec);
  const problems: FieldProblem[] = [];
  if (typeof duration === "number" && duration <= 0) {
    problems.push(invalidValue("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  if (typeof transitions === "number" && transitions < 0) {
    problems.push(invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
  }
  return problems;
}

import { describe, test } from "vitest";
import { contractCases } from "./contract-cases.ts";
import type { ContractServer } from "./contract-server.ts";

/** Defines the tests of the whole contract. `server` is asked when they run. */
export function testContract(server: () => ContractServer): void {
  describe("contract", () => {
    for (const { title, waits, run } of contractCases) {
      if (!waits) test(title, () => run(server()));
    }
    for (const { title, waits, run } of contractCases) {
      if (waits) test.concurrent(title, () => run(server()));
    }
  });
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeGreeting, encodeGreeting, type Greeting, type GreetingKind, maxGreetingBytes } from "./greeting.ts";

const kinds: readonly GreetingKind[] = ["hello", "challenge", "dialer", "acceptor", "adopted"];
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const adoption = fc.record({
  instance: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  number: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
});
const greeting: fc.Arbitrary<Greeting> = fc.oneof(
  fc.record({ kind: fc.constantFrom("hello" as const, "challenge" as const), nonce: bytes32 }),
  fc.record({
    kind: fc.constantFrom("dialer" as const, "acceptor" as const),
    proof: bytes32,
    held: fc.option(adoption, { nil: undefined }),
  }),
  fc.record({ kind: fc.constant("adopted" as const), adoption }),
);

const plain = (from: Greeting | undefined) =>
  from &&
  Object.fromEntries(
    Object.entries(from).map(([key, value]) => [key, value instanceof Uint8Array ? [...value] : value]),
  );

describe("a greeting", () => {
  it("is read as it was written, within its bound, and never as another one", () => {
    fc.assert(
      fc.property(greeting, (written) => {
        const bytes = encodeGreeting(written);
        expect(bytes.length).toBeLessThanOrEqual(maxGreetingBytes);
        for (const kind of kinds) {
          const read = decodeGreeting(kind, bytes);
          expect(plain(read)).toEqual(kind === written.kind ? plain(written) : undefined);
        }
      }),
    );
  });

  it("is not read from bytes that are cut, longer, or nonsense", () => {
    fc.assert(
      fc.property(greeting, fc.uint8Array({ maxLength: 80 }), (written, noise) => {
        const bytes = encodeGreeting(written);
        expect(decodeGreeting(written.kind, bytes.subarray(0, -1))).toBeUndefined();
        expect(decodeGreeting(written.kind, Buffer.concat([bytes, Uint8Array.of(0)]))).toBeUndefined();
        for (const kind of kinds) expect(() => decodeGreeting(kind, noise)).not.toThrow();
      }),
    );
  });
});

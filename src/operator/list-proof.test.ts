import { expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { absenceSpanMs } from "../registry/departures.ts";
import { ListProof } from "./list-proof.ts";

function aProof() {
  const clock = new FakeClock();
  const nobody = (): void => undefined;
  const told = { relists: 0, proven: 0, listed: nobody };
  const listed = {
    onListed: (listener: () => void) => {
      told.listed = listener;
      return () => undefined;
    },
    relist: () => void told.relists++,
  };
  return { clock, told, proof: new ListProof(listed, clock, () => void told.proven++) };
}

it("two lists far enough apart agree; the second is asked for once, when it can prove something", async () => {
  const { clock, told, proof } = aProof();
  proof.prove();
  told.listed();
  proof.prove();
  proof.prove();
  await clock.advance(absenceSpanMs - 1);
  expect([told.relists, proof.agree]).toEqual([0, false]);
  await clock.advance(1);
  told.listed();
  expect([told.relists, told.proven, proof.agree]).toEqual([1, 1, true]);
});

it("who is stopped asks for nothing more and leaves no timer behind", async () => {
  const { clock, told, proof } = aProof();
  told.listed();
  proof.prove();
  proof.stop();
  await clock.settle();
  expect(clock.sleeping).toBe(0);
  proof.prove();
  await clock.advance(absenceSpanMs);
  expect(told.relists).toBe(0);
});

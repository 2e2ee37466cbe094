import { beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { endpointIdOf } from "../identity.ts";
import { type Connection, closeCodes } from "../transport/transport.ts";
import { Seats } from "./seats.ts";

const peer = endpointIdOf(new Uint8Array(32).fill(2));

interface FakeConnection extends Connection {
  readonly codes: number[];
}

function aConnection(): FakeConnection {
  const codes: number[] = [];
  const never = new Promise<never>(() => undefined);
  return {
    ...{ codes, remote: peer, closed: never, address: () => undefined },
    openStream: () => never,
    acceptStream: () => never,
    close: (code) => void codes.push(code),
  };
}

let clock: FakeClock;
let seats: Seats;
beforeEach(() => {
  clock = new FakeClock();
  seats = new Seats(clock, 77n);
});

const seating = (connection: Connection, isWelcome = true) => seats.seatingFor(connection, () => isWelcome);

describe("the side that decides", () => {
  it("keeps the first of two connections that come in the same moment", () => {
    const [first, second] = [aConnection(), aConnection()];
    expect(seating(first).decide(undefined)).toEqual({ instance: 77n, number: 1n });
    expect(seating(second).decide(undefined)).toBeUndefined();
    expect(seats.of(peer)?.connection).toBe(first);
    expect(first.codes).toEqual([]);
  });

  it("takes a new connection of a peer that has lost the first, and closes that one", () => {
    const [first, second] = [aConnection(), aConnection()];
    seating(first).decide(undefined);
    clock.jump(1_000);
    expect(seating(second).decide(undefined)).toEqual({ instance: 77n, number: 2n });
    expect(seats.of(peer)?.connection).toBe(second);
    expect(first.codes).toEqual([closeCodes.superseded]);
  });

  it("keeps a connection that the peer holds too, however old it is", () => {
    const first = aConnection();
    const adoption = seating(first).decide(undefined);
    clock.jump(60_000);
    expect(seating(aConnection()).decide(adoption)).toBeUndefined();
    expect(seats.of(peer)?.connection).toBe(first);
  });

  it("takes a new connection of a peer that holds one we do not know", () => {
    seating(aConnection()).decide(undefined);
    clock.jump(1_000);
    expect(seating(aConnection()).decide({ instance: 77n, number: 9n })).toBeDefined();
    clock.jump(1_000);
    expect(seating(aConnection()).decide({ instance: 1n, number: 2n })).toBeDefined();
  });
});

describe("the side that follows", () => {
  it("takes what the other adopted, and closes what it had", () => {
    const [first, second] = [aConnection(), aConnection()];
    expect(seating(first).follow({ instance: 5n, number: 1n })).toBe(true);
    expect(seating(second).follow({ instance: 5n, number: 2n })).toBe(true);
    expect(seats.of(peer)?.connection).toBe(second);
    expect(first.codes).toEqual([closeCodes.superseded]);
    expect(seating(second).held()).toEqual({ instance: 5n, number: 2n });
  });

  it("does not take an older adoption that was overtaken on its way", () => {
    const [first, second] = [aConnection(), aConnection()];
    seating(second).follow({ instance: 5n, number: 2n });
    expect(seating(first).follow({ instance: 5n, number: 1n })).toBe(false);
    expect(seats.of(peer)?.connection).toBe(second);
    expect(second.codes).toEqual([]);
  });

  it("takes the first adoption of a process that began anew", () => {
    seating(aConnection()).follow({ instance: 5n, number: 9n });
    expect(seating(aConnection()).follow({ instance: 6n, number: 1n })).toBe(true);
  });
});

describe("a seat", () => {
  it("is not given to who is not welcome", () => {
    expect(seating(aConnection(), false).decide(undefined)).toBeUndefined();
    expect(seating(aConnection(), false).follow({ instance: 5n, number: 1n })).toBe(false);
    expect(seats.of(peer)).toBeUndefined();
  });

  it("is freed by the connection that has it and by no other", () => {
    const [first, second] = [aConnection(), aConnection()];
    seating(first).decide(undefined);
    seats.leave(second);
    expect(seats.of(peer)?.connection).toBe(first);
    seats.leave(first);
    expect(seats.of(peer)).toBeUndefined();
  });
});

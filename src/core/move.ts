import { type Endpoint, endpointText, parseEndpoint, sameEndpoint } from "./endpoint.ts";

/** How far a Peer has come on its way to another endpoint. A mark on it says so, and who finds the mark goes on. */
export interface Move {
  /**
   * `waiting`: the endpoint is written, and the target may follow by itself. `dropped`: the keepalive is off, without
   * which Kilo has to take the endpoint as it is written.
   */
  readonly step: "waiting" | "dropped";
  /** Where the target met the node when the move began. */
  readonly left: readonly Endpoint[];
}

export interface MoveInput {
  /** What the Peer is marked with. */
  readonly mark: string;
  /** For how long it has been. */
  readonly ageMs: number;
  /** Where the node says it is. */
  readonly to: Endpoint;
  /** The node says so only now. */
  readonly isNew: boolean;
  /** Where the target's nodes have met it. */
  readonly reported: readonly Endpoint[];
  /** Kilo prefers what it sees to what is written: the Peer has a keepalive. */
  readonly follows: boolean;
}

/** A move that goes on. */
export interface Moving {
  readonly move: Move;
  /** When time alone may bring it further. */
  readonly afterMs?: number;
  /** Waiting has not helped: it needs the next step, which only one Peer of a target takes at a time. */
  readonly isDue?: boolean;
}

/** How long a step of a move may take. */
export const stepMs = 90_000;
/** One of them still reported is enough to know; the mark stays short also for a node behind many mappings. */
const mostLeft = 16;

/**
 * Once Kilo has met a node it ignores a new endpoint while the Peer has a keepalive. The target gets 90 s to follow by
 * itself, and another 90 s without keepalive. Undefined when there is nothing to wait for any more: nobody reports a place
 * that was left, or the node is there all the same.
 */
export function nextMove({ mark, ageMs, to, isNew, reported, follows }: MoveInput): Moving | undefined {
  if (isNew) return beginning(to, reported);
  const move = parseMove(mark);
  if (!move?.left.some((endpoint) => isAmong(reported, endpoint))) return undefined;
  if (ageMs < stepMs) return { move, afterMs: stepMs - ageMs };
  return move.step === "waiting" && follows ? { move, isDue: true } : undefined;
}

/** The first that is due takes its next step unless another is still in it. */
export function takeTurns(movings: readonly (Moving | undefined)[]): (Moving | undefined)[] {
  const isBusy = movings.some((moving) => moving?.move.step === "dropped");
  const next = isBusy ? -1 : movings.findIndex((moving) => moving?.isDue);
  return movings.map((moving, index) =>
    moving && index === next ? { move: { ...moving.move, step: "dropped" }, afterMs: stepMs } : moving,
  );
}

/**
 * A Peer that is only kept must not stay without its keepalive, or Kilo resets the device again and again: it waits with
 * this mark instead. Undefined when the mark says that it has its keepalive.
 */
export function keptMark(mark: string): string | undefined {
  const move = parseMove(mark);
  return move?.step === "dropped" ? moveText({ ...move, step: "waiting" }) : undefined;
}

/** What a Peer is marked with. */
export function moveText({ step, left }: Move): string {
  return `${step} ${left.map(endpointText).join(",")}`;
}

/** Undefined when the text is no mark of ours. */
export function parseMove(text: string): Move | undefined {
  const [step, left = ""] = text.split(" ");
  if (step !== "waiting" && step !== "dropped") return undefined;
  return { step, left: left.split(",").flatMap((endpoint) => parseEndpoint(endpoint) ?? []) };
}

function beginning(to: Endpoint, reported: readonly Endpoint[]): Moving | undefined {
  const others = reported.filter((endpoint) => !sameEndpoint(endpoint, to));
  const left = others.filter((endpoint, index) => !isAmong(others.slice(0, index), endpoint)).slice(0, mostLeft);
  return left.length > 0 ? { move: { step: "waiting", left }, afterMs: stepMs } : undefined;
}

function isAmong(endpoints: readonly Endpoint[], endpoint: Endpoint): boolean {
  return endpoints.some((other) => sameEndpoint(other, endpoint));
}

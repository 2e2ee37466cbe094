import type { LinkReason } from "../reasons.ts";
import { type Closing, closeCodes } from "../transport/transport.ts";

/** What a peer's close code means to us. */
const closeReasons: Readonly<Record<number, LinkReason>> = {
  [closeCodes.leaving]: "PeerLeaving",
  [closeCodes.formationNotProven]: "FormationNotProven",
  [closeCodes.duplicate]: "Duplicate",
  [closeCodes.silent]: "Silent",
  [closeCodes.badProtocol]: "BadProtocol",
  [closeCodes.superseded]: "Superseded",
  [closeCodes.notWanted]: "PeerRefused",
  [closeCodes.busy]: "PeerBusy",
  [closeCodes.refusedFrame]: "RefusedFrame",
  [closeCodes.tooSlow]: "TooSlow",
};

/** Why a connection is over that we did not close. */
export function reasonOfClosing(closing: Closing): LinkReason {
  if (closing.by === "peer") return closeReasons[closing.code] ?? "BadProtocol";
  return closing.by === "us" ? "NotWanted" : "ConnectionLost";
}

import { networksIn, parseIp } from "./cidr.ts";
import { type Ranges, rangesOf } from "./ranges.ts";
import type { World } from "./world.ts";

/** The API servers that we use. */
export interface Servers {
  /** Their addresses; everything while nobody has asked yet where one of them is. */
  readonly addresses: Ranges;
  /** Those that are known by name. */
  readonly names: readonly string[];
  /** Every name has an answer, if only that there is none. */
  readonly isAsked: boolean;
}

const everything = networksIn(["0.0.0.0/0", "::/0"]);

export function serversOf({ servers, resolved }: Pick<World, "servers" | "resolved">): Servers {
  const names = servers.filter((host) => parseIp(host) === undefined);
  const isAsked = names.every((name) => resolved.has(name));
  const texts = servers.flatMap((host) => resolved.get(host) ?? [host]);
  const addresses = texts.flatMap((text) => parseIp(text) ?? []);
  return { addresses: isAsked ? rangesOf([], addresses) : rangesOf(everything), names, isAsked };
}

import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);
const nowhere = "44";

async function ip(words: string): Promise<void> {
  await run("ip", words.split(" "));
}

/**
 * From now on the packets between two addresses of this network are lost, both ways, without a word to who sends them.
 * Resolves with what heals it. Only inside a network of its own.
 */
export async function cutLink(one: string, other: string): Promise<() => Promise<void>> {
  await leadNowhere();
  const rules = [`from ${one} to ${other} lookup ${nowhere}`, `from ${other} to ${one} lookup ${nowhere}`];
  for (const rule of rules) await ip(`rule add pref 5 ${rule}`);
  return async () => {
    for (const rule of rules) await ip(`rule del pref 5 ${rule}`);
  };
}

/** A device without a reader swallows what it gets. Rules are asked before the table of own addresses, which is first by default. */
async function leadNowhere(): Promise<void> {
  const { stdout } = await run("ip", ["rule", "show"]);
  if (!stdout.startsWith("0:")) return;
  await ip("tuntap add mode tun name nowhere");
  await ip("link set nowhere up");
  await ip(`route add default dev nowhere table ${nowhere}`);
  await ip("rule add pref 100 lookup local");
  await ip("rule del pref 0");
}

import { Resolver } from "node:dns/promises";

/** The part of a resolver that is needed. */
export interface Records {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
}

/**
 * All addresses of a name, IPv4 first, then by text: the same answer in another order is the same. Throws when the name does
 * not resolve, and also when one of its two families could not be asked for: half an answer would move an endpoint.
 *
 * It asks the servers of resolv.conf for the name as it is. The system's own way is no choice: it has two threads in a
 * process, and through it the connections to API servers are made. Names that never get an answer, which anybody may write
 * on a node, would keep all clusters from being reached.
 */
export async function addressesOf(name: string, records: Records = new Resolver(patience)): Promise<string[]> {
  const families = await Promise.all([records.resolve4(name).catch(none), records.resolve6(name).catch(none)]);
  const found = families.flatMap((addresses) => addresses.toSorted());
  if (found.length === 0) throw new Error("no such name");
  return found;
}

const patience = { timeout: 2000, tries: 2 };

/** The answer that there is nothing is an answer. */
function none(error: unknown): string[] {
  const { code } = error as { readonly code?: string };
  if (code === "ENODATA" || code === "ENOTFOUND") return [];
  throw error;
}

import { BlockList, isIP } from "node:net";

/** True for hosts that lead back to this machine or its link: loopback, link-local, unspecified, `localhost`. */
export function isLocalHost(host: string): boolean {
  const bare = host
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
  if (isIP(bare) !== 0) return isLocalAddress(bare);
  return bare === "localhost" || bare.endsWith(".localhost");
}

export function isLocalAddress(address: string): boolean {
  const unscoped = address.replace(/%.*$/, "");
  return localAddresses.check(unscoped, isIP(unscoped) === 6 ? "ipv6" : "ipv4");
}

const localAddresses = localBlocks();

/** IPv4 rules also hold for IPv4-mapped addresses; `::/96` covers `::`, `::1` and the old IPv4-compatible ones. */
function localBlocks(): BlockList {
  const blocks = new BlockList();
  blocks.addSubnet("0.0.0.0", 8, "ipv4");
  blocks.addSubnet("127.0.0.0", 8, "ipv4");
  blocks.addSubnet("169.254.0.0", 16, "ipv4");
  blocks.addSubnet("::", 96, "ipv6");
  blocks.addSubnet("fe80::", 10, "ipv6");
  return blocks;
}

import { describe, expect, it } from "vitest";
import { parseEndpoint } from "./endpoint.ts";

describe("an endpoint", () => {
  it.each([
    ["192.0.2.1:51820", { ip: "192.0.2.1" }, 51820],
    ["[2001:DB8::1]:1", { ip: "2001:db8::1" }, 1],
    ["vpn.Example.org:65535", { dns: "vpn.example.org" }, 65535],
  ])("%s is read", (text, host, port) => {
    expect(parseEndpoint(text)).toEqual({ host, port });
  });

  it.each([
    "",
    "192.0.2.1",
    "192.0.2.1:0",
    "192.0.2.1:65536",
    "192.0.2.1:x",
    ":51820",
    "2001:db8::1:51820",
    "[2001:db8::1]",
    "256.0.0.1:51820",
    "a_b:51820",
    "-a:1",
    "a..b:1",
    "[]:1",
    "host:51820 ",
  ])("%j is refused", (text) => {
    expect(parseEndpoint(text)).toBeUndefined();
  });
});

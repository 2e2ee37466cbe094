import { describe, expect, it } from "vitest";
import { addressesOf, type Records } from "./look-up.ts";

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
const answering =
  (...addresses: string[]) =>
  async () =>
    addresses;

const lookUp = (records: Partial<Records>) =>
  addressesOf("gw.example.org", { resolve4: failing("ENODATA"), resolve6: failing("ENODATA"), ...records });

describe("the addresses of a name", () => {
  it("are the same in whatever order they come, IPv4 first", async () => {
    const resolve6 = answering("2001:db8::2", "2001:db8::1");
    const wanted = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"];
    expect(await lookUp({ resolve4: answering("192.0.2.2", "192.0.2.1"), resolve6 })).toEqual(wanted);
    expect(await lookUp({ resolve4: answering("192.0.2.1", "192.0.2.2"), resolve6 })).toEqual(wanted);
  });

  it.each(["ENODATA", "ENOTFOUND"])("may be of one family alone: %s for the other", async (code) => {
    expect(await lookUp({ resolve4: failing(code), resolve6: answering("2001:db8::1") })).toEqual(["2001:db8::1"]);
  });

  it.each(["ETIMEOUT", "ESERVFAIL", "ECONNREFUSED"])("are not known by half: %s for one family", async (code) => {
    await expect(lookUp({ resolve4: failing(code), resolve6: answering("2001:db8::1") })).rejects.toThrow(code);
    await expect(lookUp({ resolve4: answering("192.0.2.1"), resolve6: failing(code) })).rejects.toThrow(code);
  });

  it("are not none: a name without any does not resolve", async () => {
    await expect(lookUp({})).rejects.toThrow("no such name");
  });
});

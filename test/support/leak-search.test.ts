import { describe, expect, it } from "vitest";
import { formsOf, leaksIn } from "./leak-search.ts";

const secret = "planted-secret/with+signs";
const found = (text: string): boolean => leaksIn({ here: text }, { it: secret }).length > 0;

describe("the search for leaks", () => {
  it.each<[string, string]>([
    ["as it is", `token ${secret}.`],
    ["in JSON", JSON.stringify({ token: secret })],
    ["in an address", `https://x/?token=${encodeURIComponent(secret)}`],
    ["in hex", Buffer.from(`>>${secret}<<`).toString("hex")],
    ["in base64", Buffer.from(secret).toString("base64")],
    ["in base64 behind one byte", Buffer.from(`1${secret} and more`).toString("base64")],
    ["in base64 behind two bytes", Buffer.from(`12${secret}`).toString("base64")],
    ["in base64 for addresses", Buffer.from(`123${secret}`).toString("base64url")],
  ])("finds a secret %s", (_, text) => {
    expect(found(text)).toBe(true);
  });

  it("finds nothing where nothing is, and says where it found something", () => {
    expect(found("planted secret, with signs")).toBe(false);
    expect(leaksIn({ log: "x", status: secret }, { token: secret })).toEqual(["token in status"]);
  });

  it("does not search for what could be there by chance", () => {
    expect(() => formsOf("short")).toThrow("by chance");
  });
});

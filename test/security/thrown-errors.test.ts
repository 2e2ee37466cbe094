import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EchoCluster, startEchoCluster } from "../support/echo-cluster.ts";
import { leaksIn } from "../support/leak-search.ts";
import { makeCertificates } from "../support/test-certificates.ts";

const planted = "planted-credential-of-the-operator-itself";

let folder: string;
let echo: EchoCluster;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "thrown-errors-"));
  echo = await startEchoCluster({ certificates: await makeCertificates(), nodes: [], peers: [] });
});
afterAll(async () => {
  await echo.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

/** The operator's command with a kubeconfig of its own, until it gives up. */
async function run(kubeconfig: string): Promise<Ended> {
  const file = join(folder, "kubeconfig");
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  const words = ["src/bin/cli.ts", "operator", "--log-level=debug", "--health-probe-bind-address=0"];
  const child = spawn(process.execPath, [...words, "--kubeconfig", file], { env: { PATH: process.env.PATH ?? "" } });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("close", resolve)),
  ]);
  return { code, said: stdout + stderr };
}

function withUser(user: object): string {
  return JSON.stringify({ ...JSON.parse(echo.kubeconfig("none")), users: [{ name: "echo", user }] });
}

describe("an error that ends the operator", () => {
  it.each<[string, () => string, Ended]>([
    ["a server that quotes its token", () => echo.kubeconfig(planted), { code: 1, said: "HTTP 422" }],
    ["broken YAML", () => `users:\n- user: {token: ${planted}\n  name: [`, { code: 2, said: "line 3" }],
    [
      "a password",
      () => withUser({ username: "admin", password: planted }),
      { code: 2, said: "password: basic authentication" },
    ],
    ["a program", () => withUser({ exec: { command: planted } }), { code: 2, said: "runs a program" }],
    ["a token that is none", () => withUser({ token: `${planted} ` }), { code: 2, said: "no token has" }],
    ["a key that is none", () => withUser({ "client-key-data": planted }), { code: 2, said: "client-key-data" }],
  ])("says what is wrong with %s, and no credential", async (_, kubeconfig, expected) => {
    const { code, said } = await run(kubeconfig());
    expect({ code, said }).toEqual({ code: expected.code, said: expect.stringContaining(expected.said) });
    expect(leaksIn({ said }, { planted })).toEqual([]);
  });
});

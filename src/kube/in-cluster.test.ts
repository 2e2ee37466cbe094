import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { connectionId } from "./connection-config.ts";
import { inClusterConnection } from "./in-cluster.ts";

let directory: string;
let clock: FakeClock;

beforeEach(async () => {
  clock = new FakeClock();
  directory = await mkdtemp(join(tmpdir(), "service-account-"));
  await writeFile(join(directory, "token"), "first\n");
  await writeFile(join(directory, "ca.crt"), "the authority");
});

afterEach(() => rm(directory, { recursive: true }));

function aConnection(host = "10.0.0.1") {
  const env = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: "443" };
  return inClusterConnection({ env, clock, directory });
}

function tokenOf({ token }: ReturnType<typeof aConnection>, refresh?: boolean): string | undefined {
  return typeof token === "function" ? token(refresh) : token;
}

test("the service account's files and the pod's environment make a connection", () => {
  const connection = aConnection();
  expect(connection).toMatchObject({ server: "https://10.0.0.1:443", caPem: "the authority", compress: false });
  expect(tokenOf(connection)).toBe("first");
});

test("an IPv6 host is written in brackets", () => {
  expect(aConnection("fd00::1").server).toBe("https://[fd00::1]:443");
});

test("a rotated token is noticed after a minute", async () => {
  const connection = aConnection();
  await writeFile(join(directory, "token"), "second\n");
  clock.jump(59_000);
  expect(tokenOf(connection)).toBe("first");
  clock.jump(2_000);
  expect(tokenOf(connection)).toBe("second");
});

test("a rotated token is noticed at once when a fresh one is asked for", async () => {
  const connection = aConnection();
  await writeFile(join(directory, "token"), "second\n");
  expect(tokenOf(connection, true)).toBe("second");
  expect(tokenOf(connection)).toBe("second");
});

test("a token file that is gone or empty for a moment does not lose the token", async () => {
  const connection = aConnection();
  await writeFile(join(directory, "token"), "");
  expect(tokenOf(connection, true)).toBe("first");
  await rm(join(directory, "token"));
  expect(tokenOf(connection, true)).toBe("first");
});

test("rotation does not change the identity of the connection", async () => {
  const before = connectionId(aConnection());
  await writeFile(join(directory, "token"), "second");
  expect(connectionId(aConnection())).toBe(before);
});

test("outside a pod it says what is missing", async () => {
  expect(() => inClusterConnection({ env: {}, clock, directory })).toThrow("KUBERNETES_SERVICE_HOST");
  await rm(join(directory, "ca.crt"));
  expect(() => aConnection()).toThrow("ca.crt cannot be read");
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get as getSecure } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NotingLogger } from "../../test/support/an-informer.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { type KeyAndCertificate, makeCertificates } from "../../test/support/test-certificates.ts";
import type { OperatorConfig } from "./config.ts";
import { type HttpSide, ServeError, startHttp } from "./http.ts";
import { operatorMetrics } from "./metrics.ts";
import { Telemetry } from "./telemetry.ts";

const loopback = { host: "127.0.0.1", port: 0 };

let clock: FakeClock;
let log: NotingLogger;
let http: HttpSide | undefined;
let directory: string;

beforeEach(() => {
  clock = new FakeClock();
  log = new NotingLogger();
  directory = mkdtempSync(join(tmpdir(), "metrics-certificate-"));
});
afterEach(async () => {
  await http?.stop();
  http = undefined;
  rmSync(directory, { recursive: true });
});

async function start(config: Partial<Pick<OperatorConfig, "health" | "metrics">>): Promise<Telemetry> {
  const telemetry = new Telemetry({ clock, withMetrics: config.metrics !== undefined });
  http = await startHttp({ health: "off", metrics: "off", ...config }, { telemetry, clock, log });
  return telemetry;
}

function addressOf(what: string): string {
  const line = log.lines.find(({ message, fields }) => message === "serving" && fields?.what === what);
  return String(line?.fields?.address);
}

const ask = (what: string, path: string): Promise<Response> => fetch(`http://${addressOf(what)}${path}`);

describe("the probes", () => {
  it("say alive at once, and ready only when the operator is at work", async () => {
    const telemetry = await start({ health: loopback });
    expect(await (await ask("health", "/healthz")).text()).toBe("ok\n");
    const early = await ask("health", "/readyz");
    expect([early.status, await early.text()]).toEqual([503, "not ready: leading, not started yet\n"]);
    const hide = telemetry.show({ knowledge: () => ({ state: "known", since: 0 }), wasListed: () => true } as never);
    const ready = await ask("health", "/readyz");
    expect([ready.status, await ready.text()]).toEqual([200, "ready: leading, the meshes are known\n"]);
    hide();
    expect((await ask("health", "/readyz")).status).toBe(503);
  });

  it("do not serve metrics", async () => {
    await start({ health: loopback, metrics: { address: loopback, tls: false } });
    expect((await ask("health", "/metrics")).status).toBe(404);
  });

  it("of a standby are ready once it knows who leads", async () => {
    const telemetry = await start({ health: loopback });
    const election = { isLeader: false, answeredAt: undefined as number | undefined };
    telemetry.follow(election as never);
    expect(await (await ask("health", "/readyz")).text()).toContain("not ready: standby");
    election.answeredAt = 0;
    expect(await (await ask("health", "/readyz")).text()).toBe("ready: standby, another operator leads\n");
  });
});

describe("metrics", () => {
  it("are all there before the operator leads, as Prometheus' text", async () => {
    await start({ metrics: { address: loopback, tls: false } });
    const response = await ask("metrics", "/metrics");
    const text = await response.text();
    expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const [name, { type }] of Object.entries(operatorMetrics)) expect(text).toContain(`# TYPE ${name} ${type}\n`);
    expect(text).toContain("kilo_clustermesh_leader 1\n");
  });

  it("are served with the certificate that the folder holds, also after it was renewed", async () => {
    const { caPem: ca, server } = await makeCertificates();
    writePair(server);
    await start({ metrics: { address: loopback, tls: tlsFiles() } });
    expect(await askSecurely(ca)).toContain("kilo_clustermesh_leader");
    const renewed = await makeCertificates();
    writePair(renewed.server);
    await clock.advance(60_000);
    expect(await askSecurely(renewed.caPem)).toContain("kilo_clustermesh_leader");
    writeFileSync(tlsFiles().certFile, "broken");
    await clock.advance(60_000);
    expect(await askSecurely(renewed.caPem)).toContain("kilo_clustermesh_leader");
    expect(log.of("warn")).toEqual(["metrics certificate not renewed"]);
  });
});

describe("an address that cannot be served", () => {
  it("is an error that names the flag, and nothing keeps running", async () => {
    const other = new NotingLogger();
    const telemetry = new Telemetry({ clock, withMetrics: false });
    const first = await startHttp({ health: loopback, metrics: "off" }, { telemetry, clock, log: other });
    const port = Number(String(other.lines[0]?.fields?.address).split(":")[1]);
    const taken = { host: "127.0.0.1", port };
    const second = start({ health: loopback, metrics: { address: taken, tls: false } });
    await expect(second).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}: the port is in use; give --metrics-bind-address another address, or 0 for none`,
    );
    await expect(ask("health", "/healthz")).rejects.toThrow();
    await first.stop();
  });

  it("because its certificate is missing or none says where to look, and nothing of the files", async () => {
    await expect(start({ metrics: { address: loopback, tls: tlsFiles() } })).rejects.toThrow(/cannot read .*tls\.crt/);
    writePair({ certPem: "a-planted-text", keyPem: "a-planted-text" });
    const starting = start({ metrics: { address: loopback, tls: tlsFiles() } });
    await expect(starting).rejects.toThrow(ServeError);
    await expect(starting).rejects.not.toThrow("planted");
  });
});

const tlsFiles = () => ({ certFile: join(directory, "tls.crt"), keyFile: join(directory, "tls.key") });

function writePair({ certPem, keyPem }: KeyAndCertificate): void {
  writeFileSync(tlsFiles().certFile, certPem);
  writeFileSync(tlsFiles().keyFile, keyPem);
}

function askSecurely(ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = getSecure(`https://${addressOf("metrics")}/metrics`, { ca, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
    });
    request.on("error", reject);
  });
}

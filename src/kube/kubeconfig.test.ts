import { KubeConfig } from "@kubernetes/client-node";
import { beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { makeCertificates, type TestCertificates } from "../../test/support/test-certificates.ts";
import { connectionId } from "./connection-config.ts";
import { type KubeconfigLicence, type KubeconfigReading, parseKubeconfig } from "./kubeconfig.ts";

type Fields = Readonly<Record<string, unknown>>;

let certificates: TestCertificates;
const base64 = (text: string) => Buffer.from(text).toString("base64");
const everything: ReadonlySet<KubeconfigLicence> = new Set(["insecure-tls", "proxy", "loopback"]);

beforeAll(async () => {
  certificates = await makeCertificates();
});

/** A good kubeconfig with one context, changed where a test says so. */
function aKubeconfig({ cluster, user, top }: { cluster?: Fields; user?: Fields; top?: Fields } = {}): Fields {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "main",
    contexts: [{ name: "main", context: { cluster: "c", user: "u", namespace: "default" } }],
    clusters: [{ name: "c", cluster: { server: "https://api.example.com:6443", ...authority(), ...cluster } }],
    users: [{ name: "u", user: user ?? { token: "planted-token" } }],
    ...top,
  };
}

const authority = () => ({ "certificate-authority-data": base64(certificates.caPem) });
const clientCertificate = () => ({
  "client-certificate-data": base64(certificates.client.certPem),
  "client-key-data": base64(certificates.client.keyPem),
});

function read(value: Fields | string, allow: ReadonlySet<KubeconfigLicence> = new Set(), context?: string) {
  const text = typeof value === "string" ? value : stringify(value);
  return parseKubeconfig(text, { allow, ...(context && { context }) });
}

function problems(reading: KubeconfigReading): readonly string[] {
  return reading.ok ? [] : reading.problems.map(({ path, message }) => `${path} ${message}`);
}

function connection(reading: KubeconfigReading) {
  if (!reading.ok) throw new Error(problems(reading).join("; "));
  return reading.connection;
}

describe("a kubeconfig that is accepted", () => {
  const accepted: readonly [string, () => Fields][] = [
    ["with a token", () => aKubeconfig()],
    ["with a client certificate", () => aKubeconfig({ user: clientCertificate() })],
    ["with both", () => aKubeconfig({ user: { token: "t", ...clientCertificate() } })],
    [
      "with a path behind its server",
      () => aKubeconfig({ cluster: { server: "https://r.example.com/k8s/clusters/c-1" } }),
    ],
    ["with an IPv6 server", () => aKubeconfig({ cluster: { server: "https://[2001:db8::1]:6443" } })],
    [
      "with another name in the certificate",
      () => aKubeconfig({ cluster: { "tls-server-name": "kubernetes.default" } }),
    ],
    ["without a certificate authority", () => aKubeconfig({ cluster: { "certificate-authority-data": "" } })],
    ["with empty fields", () => aKubeconfig({ user: { token: "t", exec: null, username: "", "as-groups": [] } })],
  ];

  test.each(accepted)("%s reads as @kubernetes/client-node reads it, as YAML and as JSON", async (_, make) => {
    const value = make();
    const oracle = new KubeConfig();
    oracle.loadFromString(stringify(value));
    const [cluster, user] = [oracle.getCurrentCluster(), oracle.getCurrentUser()];
    const decoded = (data: string | undefined) => (data ? Buffer.from(data, "base64").toString() : undefined);
    for (const text of [stringify(value), JSON.stringify(value), JSON.stringify(value, null, "\t")]) {
      const ours = connection(read(text));
      expect(ours.server).toBe(cluster?.server);
      expect(ours.caPem).toBe(decoded(cluster?.caData));
      expect(ours.serverName).toBe(cluster?.tlsServerName);
      expect(ours.token).toBe(user?.token);
      expect(ours.certPem).toBe(decoded(user?.certData));
      expect(ours.keyPem).toBe(decoded(user?.keyData));
    }
  });

  test("asks for compression unless it says otherwise, and refuses loopback at connect", () => {
    expect(connection(read(aKubeconfig()))).toMatchObject({ compress: true, refuseLoopback: true });
    const plain = read(aKubeconfig({ cluster: { "disable-compression": true } }), everything);
    expect(connection(plain)).toMatchObject({ compress: false, refuseLoopback: false });
  });

  test("the context that was asked for counts, and problems elsewhere do not", () => {
    const value = aKubeconfig({
      top: {
        contexts: [
          { name: "main", context: { cluster: "c", user: "dangerous" } },
          { name: "other", context: { cluster: "c", user: "u" } },
        ],
        users: [
          { name: "dangerous", user: { exec: { command: "sh" } } },
          { name: "u", user: { token: "t" } },
        ],
      },
    });
    expect(connection(read(value, new Set(), "other")).token).toBe("t");
    expect(problems(read(value))).toEqual(["users[0].user.exec runs a program; use a token or a client certificate"]);
  });

  test("what the operator's owner allows is taken over", () => {
    const insecure = { "certificate-authority-data": "", "insecure-skip-tls-verify": true };
    const cluster = { ...insecure, server: "https://127.0.0.1:6443/", "proxy-url": "http://proxy.example.com:3128" };
    expect(connection(read(aKubeconfig({ cluster }), everything))).toMatchObject({
      server: "https://127.0.0.1:6443",
      insecureTls: true,
      proxyUrl: "http://proxy.example.com:3128/",
    });
  });
});

describe("a kubeconfig that is refused", () => {
  const user = (fields: Fields) => () => aKubeconfig({ user: { token: "planted-token", ...fields } });
  const only = (fields: () => Fields) => () => aKubeconfig({ user: fields() });
  const cluster = (fields: Fields) => () => aKubeconfig({ cluster: fields });
  const top = (fields: Fields) => () => aKubeconfig({ top: fields });
  const refused: readonly [string, () => Fields][] = [
    ["users[0].user.exec", user({ exec: { command: "planted-program" } })],
    ["users[0].user.auth-provider", user({ "auth-provider": { name: "gcp" } })],
    ["users[0].user.tokenFile", user({ tokenFile: "/etc/planted" })],
    ["users[0].user.client-certificate", user({ "client-certificate": "/etc/planted" })],
    ["users[0].user.client-key", user({ "client-key": "/etc/planted" })],
    ["users[0].user.username", user({ username: "planted" })],
    ["users[0].user.password", user({ password: "planted" })],
    ["users[0].user.as", user({ as: "planted" })],
    ["users[0].user.as-uid", user({ "as-uid": "planted" })],
    ["users[0].user.as-groups", user({ "as-groups": ["planted"] })],
    ["users[0].user.as-user-extra", user({ "as-user-extra": { a: ["planted"] } })],
    ["users[0].user.token", user({ token: "planted\ntoken" })],
    ["users[0].user.token", user({ token: 12345 })],
    ["users[0].user", only(() => ({}))],
    ["users[0].user.client-key-data", only(() => ({ "client-certificate-data": base64(certificates.client.certPem) }))],
    ["users[0].user.client-certificate-data", only(() => ({ "client-key-data": base64(certificates.client.keyPem) }))],
    [
      "users[0].user.client-certificate-data",
      only(() => ({ ...clientCertificate(), "client-certificate-data": "%%%" })),
    ],
    [
      "users[0].user.client-certificate-data",
      only(() => ({ ...clientCertificate(), "client-certificate-data": base64("planted") })),
    ],
    ["users[0].user.client-key-data", only(() => ({ ...clientCertificate(), "client-key-data": base64("planted") }))],
    [
      "users[0].user.client-key-data",
      only(() => ({ ...clientCertificate(), "client-key-data": base64(certificates.server.keyPem) })),
    ],
    ["clusters[0].cluster.certificate-authority", cluster({ "certificate-authority": "/etc/planted" })],
    ["clusters[0].cluster.certificate-authority-data", cluster({ "certificate-authority-data": "planted!" })],
    ["clusters[0].cluster.certificate-authority-data", cluster({ "certificate-authority-data": base64("planted") })],
    [
      "clusters[0].cluster.certificate-authority-data",
      cluster({ "certificate-authority-data": base64("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----") }),
    ],
    ["clusters[0].cluster.insecure-skip-tls-verify", cluster({ "insecure-skip-tls-verify": true })],
    ["clusters[0].cluster.insecure-skip-tls-verify", cluster({ "insecure-skip-tls-verify": "yes" })],
    ["clusters[0].cluster.proxy-url", cluster({ "proxy-url": "http://planted.example.com" })],
    ["clusters[0].cluster.tls-server-name", cluster({ "tls-server-name": "planted name" })],
    ["clusters[0].cluster.server", cluster({ server: "" })],
    ["clusters[0].cluster.server", cluster({ server: "planted" })],
    ["clusters[0].cluster.server", cluster({ server: "http://planted.example.com" })],
    ["clusters[0].cluster.server", cluster({ server: "https://me:planted@example.com" })],
    ["clusters[0].cluster.server", cluster({ server: "https://example.com/?planted" })],
    ["clusters[0].cluster.server", cluster({ server: "https://example.com/#planted" })],
    ["current-context", top({ "current-context": "" })],
    ["contexts", top({ "current-context": "dangling" })],
    ["contexts", top({ contexts: "none" })],
    ["contexts[0].context", top({ contexts: [{ name: "main" }] })],
    ["contexts[0].context.user", top({ contexts: [{ name: "main", context: { cluster: "c" } }] })],
    ["clusters", top({ clusters: [] })],
    ["users", top({ users: [{ name: "somebody" }] })],
    [
      "users",
      top({
        users: [
          { name: "u", user: { token: "a" } },
          { name: "u", user: { token: "b" } },
        ],
      }),
    ],
    ["clusters[0].cluster", top({ clusters: [{ name: "c", cluster: ["x"] }] })],
  ];

  test.each(refused)("names %s", (path, make) => {
    const reading = read(make());
    expect(reading.ok ? [] : reading.problems.map((problem) => problem.path)).toContain(path);
    expect(problems(reading).join()).not.toContain("planted");
  });

  test("names all its problems at once", () => {
    const value = aKubeconfig({
      cluster: { server: "http://example.com", "proxy-url": "http://example.com", "certificate-authority": "/etc/ca" },
      user: { exec: { command: "sh" }, tokenFile: "/etc/token" },
    });
    expect(problems(read(value))).toHaveLength(5);
  });

  test.each([
    "https://127.0.0.1",
    "https://127.8.9.10:6443",
    "https://localhost",
    "https://api.localhost:6443",
    "https://LOCALHOST.",
    "https://2130706433",
    "https://0x7f000001",
    "https://0177.0.0.1",
    "https://127.1",
    "https://0.0.0.0",
    "https://[::1]",
    "https://[::]",
    "https://[::ffff:127.0.0.1]",
    "https://[::127.0.0.1]",
    "https://169.254.169.254",
    "https://[::ffff:169.254.169.254]",
    "https://[fe80::1]",
    "https://①②⑦.0.0.1",
  ])("the server %s needs the licence for loopback", (server) => {
    const value = aKubeconfig({ cluster: { server } });
    expect(problems(read(value))).toEqual([
      "clusters[0].cluster.server leads to a loopback or link-local address, which is not allowed here",
    ]);
    expect(read(value, new Set(["loopback"])).ok).toBe(true);
  });

  test("a proxy on loopback needs both licences", () => {
    const value = aKubeconfig({ cluster: { "proxy-url": "http://127.0.0.1:3128" } });
    expect(read(value, new Set(["proxy"])).ok).toBe(false);
    expect(read(value, new Set(["proxy", "loopback"])).ok).toBe(true);
    expect(read(aKubeconfig({ cluster: { "proxy-url": "socks5://p.example.com" } }), everything).ok).toBe(false);
  });
});

describe("text that is no kubeconfig", () => {
  const texts: readonly [string, string][] = [
    ["is larger than 256 KiB", `a: ${"x".repeat(256 * 1024)}`],
    ["is not valid YAML (line 2)", "a: b\nplanted: ]\n"],
    ["is not valid YAML (line 2)", "a: b\n---\nplanted: c\n"],
    ["uses a YAML alias (line 2)", "a: 1\nb: *planted\n"],
    ["uses a YAML anchor (line 1)", "a: &planted 1\n"],
    ["has the same key twice (line 1)", "planted: 1\nplanted: 2\n"],
    ["has too many entries", "- planted\n".repeat(25_000)],
    ["has too many entries", "[".repeat(200_000)],
    ["is nested too deeply", "[".repeat(15_000)],
    ["must be an object", "planted"],
    ["must be an object", "- planted"],
  ];

  test.each(texts)("%s", (why, text) => {
    const reading = read(text);
    expect(reading).toEqual({ ok: false, problems: [{ path: "kubeconfig", message: why }] });
  });

  test.each(["", "{}", "null", "__proto__: {current-context: x}", "clusters: {}", "current-context: [x]"])(
    "%j has no context",
    (text) => {
      expect(problems(read(text)).join()).toContain("current-context");
    },
  );
});

describe("the identity of a connection", () => {
  const id = (value: Fields) => connectionId(connection(read(value, everything)));

  test("is the same for the same server, authority and credential, however it is written", () => {
    const value = aKubeconfig();
    const renamed = JSON.parse(JSON.stringify(value).replaceAll('"main"', '"renamed"'));
    expect(id(renamed)).toBe(id(value));
    expect(id(aKubeconfig({ cluster: { server: "https://API.example.com:6443/" } }))).toBe(id(value));
    expect(id(value)).toMatch(/^[0-9a-f]{64}$/);
  });

  test("changes with each of them", () => {
    const variants = [
      aKubeconfig(),
      aKubeconfig({ user: { token: "another" } }),
      aKubeconfig({ user: clientCertificate() }),
      aKubeconfig({ cluster: { server: "https://other.example.com" } }),
      aKubeconfig({ cluster: { "certificate-authority-data": "" } }),
      aKubeconfig({ cluster: { "tls-server-name": "other" } }),
    ];
    expect(new Set(variants.map(id)).size).toBe(variants.length);
  });
});

import type { ConnectionConfig } from "./connection-config.ts";
import type { Fields } from "./kubeconfig-fields.ts";
import { isLocalHost } from "./local-address.ts";
import { areCertificates, decodeBase64 } from "./pem.ts";

/** What a kubeconfig from outside may do only where the operator's owner says so. */
export type KubeconfigLicence = "insecure-tls" | "proxy" | "loopback";

type Allow = ReadonlySet<KubeconfigLicence>;
type Server = Pick<
  ConnectionConfig,
  "server" | "caPem" | "serverName" | "insecureTls" | "proxyUrl" | "refuseLoopback" | "compress"
>;

/** Reads the `cluster` part of a kubeconfig; what is wrong with it is noted on `fields`. */
export function readCluster(fields: Fields, allow: Allow): Server | undefined {
  const server = readServer(fields, allow);
  const caPem = readAuthority(fields);
  const insecureTls = readInsecure(fields, allow);
  const proxyUrl = readProxy(fields, allow);
  const serverName = readServerName(fields);
  const compress = !fields.flag("disable-compression");
  if (!server) return undefined;
  return {
    server,
    compress,
    refuseLoopback: !allow.has("loopback"),
    ...(caPem && { caPem }),
    ...(insecureTls && { insecureTls }),
    ...(proxyUrl && { proxyUrl }),
    ...(serverName && { serverName }),
  };
}

function readServer(fields: Fields, allow: Allow): string | undefined {
  const text = fields.text("server");
  if (!text) return fields.problem("server", "is missing; set it to the https address of the API server");
  const url = parseUrl(text);
  if (url?.protocol !== "https:") return fields.problem("server", "must be an https:// address");
  if (url.username || url.password) fields.problem("server", "must not hold a user name or password");
  if (/[?#]/.test(text)) fields.problem("server", "must not have a query or a fragment");
  refuseLocal(fields, "server", { url, allow });
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

function readAuthority(fields: Fields): string | undefined {
  if (fields.has("certificate-authority")) {
    fields.problem("certificate-authority", "is a file path; put its content in certificate-authority-data");
  }
  const data = fields.text("certificate-authority-data");
  if (!data) return undefined;
  const pem = decodeBase64(data);
  if (pem === undefined) return fields.problem("certificate-authority-data", "is not base64");
  return areCertificates(pem) ? pem : fields.problem("certificate-authority-data", "is not a PEM certificate");
}

function readInsecure(fields: Fields, allow: Allow): boolean {
  const insecure = fields.flag("insecure-skip-tls-verify");
  if (insecure && !allow.has("insecure-tls")) {
    fields.problem("insecure-skip-tls-verify", "is not allowed here; set certificate-authority-data instead");
  } else if (insecure && fields.has("certificate-authority-data")) {
    fields.problem("insecure-skip-tls-verify", "contradicts certificate-authority-data; remove one of them");
  }
  return insecure;
}

function readProxy(fields: Fields, allow: Allow): string | undefined {
  const text = fields.text("proxy-url");
  if (!text) return undefined;
  if (!allow.has("proxy")) return fields.problem("proxy-url", "is not allowed here; remove it");
  const url = parseUrl(text);
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    return fields.problem("proxy-url", "must be an http:// or https:// address");
  }
  refuseLocal(fields, "proxy-url", { url, allow });
  return url.href;
}

function readServerName(fields: Fields): string | undefined {
  const name = fields.text("tls-server-name");
  if (!name || /^[A-Za-z0-9.:_-]{1,253}$/.test(name)) return name;
  return fields.problem("tls-server-name", "is not a host name");
}

function refuseLocal(
  fields: Fields,
  field: string,
  { url, allow }: { readonly url: URL; readonly allow: Allow },
): void {
  if (allow.has("loopback") || !isLocalHost(url.hostname)) return;
  fields.problem(field, "leads to a loopback or link-local address, which is not allowed here");
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

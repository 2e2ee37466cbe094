import { readdir } from "node:fs/promises";

const compactRevisionKey = Buffer.from("compact_rev_key").toString("base64");

/**
 * Has etcd drop every past revision, and leaves the note by which API servers learn of it. Those that answer from a
 * cache look for that note every 15 s.
 */
export async function forgetHistoryOf(controlPlaneDirectory: string): Promise<void> {
  const etcd = `http://127.0.0.1:${await etcdPort(controlPlaneDirectory)}`;
  const { header } = await call(`${etcd}/v3/kv/range`, { key: compactRevisionKey });
  const { revision } = header;
  const value = Buffer.from(revision).toString("base64");
  await call(`${etcd}/v3/kv/put`, { key: compactRevisionKey, value });
  await call(`${etcd}/v3/kv/compaction`, { revision, physical: true });
}

/** etcd's data folder is named for its port. */
async function etcdPort(directory: string): Promise<string> {
  const ports = (await readdir(directory)).flatMap((name) => /^etcd-(\d+)$/.exec(name)?.[1] ?? []);
  const [port] = ports;
  if (ports.length !== 1 || !port) throw new Error(`expected one etcd in the control plane, found ${ports.length}`);
  return port;
}

async function call(url: string, body: unknown): Promise<{ readonly header: { readonly revision: string } }> {
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`etcd refused: HTTP ${answer.status}`);
  return (await answer.json()) as { readonly header: { readonly revision: string } };
}

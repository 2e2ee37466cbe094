import type { CrdObject } from "../../src/api/crd.ts";
import type { KubeClient } from "../../src/kube/client.ts";
import type { ConnectionConfig } from "../../src/kube/connection-config.ts";
import { createClient } from "../../src/kube/http-client.ts";
import { parseKubeconfig } from "../../src/kube/kubeconfig.ts";
import type { Resource } from "../../src/kube/resource.ts";
import { type CustomObject, defineKind } from "./define-kind.ts";
import { type RawAnswer, type RawRequest, rawRequest } from "./raw-request.ts";

/** One API server, whoever serves it, as the contract cases see it. They share it and own what they create. */
export interface ContractServer {
  readonly name: string;
  /** Our client, as administrator. */
  readonly client: KubeClient;
  /** Our client with another credential; without one when `token` is absent. */
  clientWith(token?: string): KubeClient;
  /** A request that our client cannot make, as administrator. */
  raw(request: RawRequest): Promise<RawAnswer>;
  /** Makes the server serve a kind; a definition of the same name is made once. */
  kind(definition: CrdObject): Promise<Resource<CustomObject>>;
  /** Has the server begin to forget everything that is past now. */
  forgetHistory(): Promise<void>;
  close(): void;
}

export interface ServerAccess {
  readonly name: string;
  readonly kubeconfig: string;
  readonly forgetHistory: () => Promise<void>;
}

export function connectServer({ name, kubeconfig, forgetHistory }: ServerAccess): ContractServer {
  const config = connectionOf(kubeconfig);
  const clients: KubeClient[] = [];
  const open = (connection: ConnectionConfig): KubeClient => {
    const client = createClient(connection, { cluster: name });
    clients.push(client);
    return client;
  };
  const { token, ...anonymous } = config;
  const client = open(config);
  const kinds = new Map<string, Promise<Resource<CustomObject>>>();
  return {
    name,
    client,
    clientWith: (other) => open(other === undefined ? anonymous : { ...anonymous, token: other }),
    raw: (request) => rawRequest({ ...config, token: typeof token === "function" ? token() : token }, request),
    kind: (definition) => {
      const known = kinds.get(definition.metadata.name) ?? defineKind(client, definition);
      kinds.set(definition.metadata.name, known);
      return known;
    },
    forgetHistory,
    close: () => {
      for (const opened of clients) opened.close();
    },
  };
}

function connectionOf(kubeconfig: string): ConnectionConfig {
  const reading = parseKubeconfig(kubeconfig, { allow: new Set(["loopback"]) });
  if (reading.ok) return reading.connection;
  throw new Error(`the server's kubeconfig is refused: ${JSON.stringify(reading.problems)}`);
}

import type { CrdObject } from "../../api/crd.ts";
import { peers } from "../../api/kilo-peer.ts";

const text = { type: "string" };

/** The definition of Kilo's Peer, with the fields and the few limits that Kilo's own has. */
export function peerCrd(): CrdObject {
  const { group, version, plural, kind } = peers;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Cluster",
      names: { kind, listKind: `${kind}List`, plural, singular: "peer" },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

const endpoint = {
  type: "object",
  required: ["dnsOrIP", "port"],
  properties: {
    dnsOrIP: { type: "object", properties: { dns: text, ip: text } },
    port: { type: "integer", format: "int32" },
  },
};

const schema = {
  type: "object",
  required: ["spec"],
  properties: {
    apiVersion: text,
    kind: text,
    metadata: { type: "object" },
    spec: {
      type: "object",
      required: ["allowedIPs", "publicKey"],
      properties: {
        allowedIPs: { type: "array", items: text },
        endpoint,
        persistentKeepalive: { type: "integer" },
        presharedKey: text,
        publicKey: text,
      },
    },
  },
};

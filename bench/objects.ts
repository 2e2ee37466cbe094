import { createHash } from "node:crypto";
import type { NodeObject } from "../src/api/kilo-node.ts";
import type { PeerObject } from "../src/api/kilo-peer.ts";
import { annotations, labels, nodeAnnotations } from "../src/api/names.ts";

/** Kilo's sign of life, rewritten twice a minute on every Node. */
export const lastSeenAnnotation = "kilo.squat.ai/last-seen";

/** Ten digits, as are all versions that follow in a run: a version can be overwritten in place. */
export const listVersion = 2_000_000_000;
export const firstLastSeen = 1_763_000_000;
export const firstPort = 20_000;

/** A Node with all that a kubelet, a cloud and Kilo write on it: about 5.7 KB of JSON. */
export function benchNode(index: number): NodeObject {
  const name = `worker-${String(index).padStart(6, "0")}.pool-${index % 7}.example.internal`;
  const [high, low] = [index >> 8, index & 255];
  const podCIDR = `10.${high}.${low}.0/24`;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid: uidOf(name),
      resourceVersion: String(listVersion),
      creationTimestamp: "2025-11-02T08:11:20Z",
      labels: nodeLabels(name, index),
      annotations: {
        "csi.volume.kubernetes.io/nodeid": `{"csi.example.com":"i-${uidOf(name).slice(0, 12)}"}`,
        [nodeAnnotations.key]: hash(name),
        [nodeAnnotations.wireguardIp]: `10.200.${high}.${low}/16`,
        [nodeAnnotations.forceEndpoint]: `198.18.${high}.${low}:${firstPort}`,
        "kilo.squat.ai/endpoint": `198.18.${high}.${low}:51820`,
        "kilo.squat.ai/granularity": "location",
        "kilo.squat.ai/internal-ip": `172.20.${high}.${low}/16`,
        "kilo.squat.ai/location": `zone-${index % 3}`,
        "kilo.squat.ai/persistent-keepalive": "25",
        [lastSeenAnnotation]: String(firstLastSeen),
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
      },
      ...{ managedFields: managedFields() },
    },
    spec: { podCIDR, podCIDRs: [podCIDR], ...{ providerID: `example:///zone-${index % 3}/i-${uidOf(name)}` } },
    status: {
      addresses: [
        { type: "InternalIP", address: `172.20.${high}.${low}` },
        { type: "ExternalIP", address: `198.18.${high}.${low}` },
        { type: "Hostname", address: name },
      ],
      ...kubeletStatus(name),
    },
  };
}

/** A Peer as the operator writes it. */
export function benchPeer(index: number): PeerObject {
  const node = `worker-${String(index).padStart(6, "0")}`;
  return {
    apiVersion: "kilo.squat.ai/v1alpha1",
    kind: "Peer",
    metadata: {
      name: `peer-${node}-${uidOf(node).slice(0, 8)}`,
      uid: uidOf(`peer ${node}`),
      resourceVersion: String(listVersion),
      creationTimestamp: "2025-11-02T08:11:20Z",
      labels: { [labels.mesh]: "mesh", [labels.source]: "cluster-b", [labels.instance]: "default" },
      annotations: { [annotations.node]: node, [annotations.owners]: "default/mesh" },
      ...{ managedFields: managedFields().slice(0, 1) },
    },
    spec: {
      publicKey: hash(node),
      allowedIPs: [`10.${index >> 8}.${index & 255}.0/24`, `10.201.${index >> 8}.${index & 255}/32`],
      endpoint: { dnsOrIP: { ip: `198.18.${index >> 8}.${index & 255}` }, port: 51820 },
    },
  };
}

function nodeLabels(name: string, index: number): Record<string, string> {
  return {
    "beta.kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "example.com/pool": `pool-${index % 7}`,
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "node.kubernetes.io/instance-type": "standard-8",
    "topology.kubernetes.io/region": "region-1",
    "topology.kubernetes.io/zone": `zone-${index % 3}`,
  };
}

function kubeletStatus(name: string) {
  const amounts = { cpu: "8", "ephemeral-storage": "101430960Ki", memory: "32771584Ki", pods: "110" };
  const conditions = [
    ["MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
    ["DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
    ["PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
    ["Ready", "True", "KubeletReady", "kubelet is posting ready status"],
  ];
  return {
    allocatable: amounts,
    capacity: amounts,
    conditions: conditions.map(([type, status, reason, message]) => ({
      type,
      status,
      reason,
      message,
      lastHeartbeatTime: "2025-11-14T10:00:00Z",
      lastTransitionTime: "2025-11-02T08:12:01Z",
    })),
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    images: Array.from({ length: 8 }, (_, image) => imageOf(image)),
    nodeInfo: {
      architecture: "amd64",
      bootID: uidOf(`boot ${name}`),
      containerRuntimeVersion: "containerd://2.1.4",
      kernelVersion: "6.12.48-amd64",
      kubeletVersion: "v1.34.1",
      machineID: uidOf(`machine ${name}`),
      operatingSystem: "linux",
      osImage: "Debian GNU/Linux 13 (trixie)",
      systemUUID: uidOf(`system ${name}`),
    },
  };
}

function imageOf(image: number) {
  const digest = createHash("sha256").update(String(image)).digest("hex");
  return {
    names: [
      `images.example.com/system/component-${image}@sha256:${digest}`,
      `images.example.com/system/component-${image}:v1.${image}.0`,
    ],
    sizeBytes: 31_000_000 + image * 7919,
  };
}

/** Who set what: the part of an object that is largest and least read. */
function managedFields() {
  const fields = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, {}]));
  const entry = (manager: string, fieldsV1: object) => ({
    manager,
    operation: "Update",
    apiVersion: "v1",
    time: "2025-11-14T10:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1,
  });
  const condition = fields(["f:lastHeartbeatTime", "f:lastTransitionTime", "f:message", "f:reason", "f:status"]);
  const kilo = ["endpoint", "force-endpoint", "granularity", "internal-ip", "key", "last-seen", "wireguard-ip"];
  return [
    entry("kg", { "f:metadata": { "f:annotations": fields(kilo.map((name) => `f:kilo.squat.ai/${name}`)) } }),
    entry("kubelet", {
      "f:metadata": { "f:labels": fields(["f:beta.kubernetes.io/arch", "f:kubernetes.io/arch", "f:kubernetes.io/os"]) },
      "f:status": {
        "f:conditions": Object.fromEntries(
          ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => [`k:{"type":"${type}"}`, condition]),
        ),
        "f:images": {},
        "f:nodeInfo": fields(["f:bootID", "f:kubeletVersion"]),
      },
    }),
  ];
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function uidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

import { humanAge } from "./age.ts";
import { type JsonMap, listOf, mapOf } from "./json.ts";
import { ageColumn, column, nameColumn } from "./printer-columns.ts";
import type { Column } from "./served-resource.ts";
import type { WireObject } from "./wire-object.ts";

export const plainColumns: readonly Column[] = [nameColumn, ageColumn];

export const nodeColumns: readonly Column[] = [
  nameColumn,
  column("Status", nodeStatus),
  column("Roles", nodeRoles),
  ageColumn,
  { ...column("Version", () => ""), value: (node) => String(mapOf(mapOf(node.status).nodeInfo).kubeletVersion ?? "") },
  column("Internal-IP", (node) => addressOf(node, "InternalIP"), { wide: true }),
  column("External-IP", (node) => addressOf(node, "ExternalIP"), { wide: true }),
  column("OS-Image", (node) => nodeInfo(node, "osImage"), { wide: true }),
  column("Kernel-Version", (node) => nodeInfo(node, "kernelVersion"), { wide: true }),
  column("Container-Runtime", (node) => nodeInfo(node, "containerRuntimeVersion"), { wide: true }),
];

export const namespaceColumns: readonly Column[] = [
  nameColumn,
  column("Status", (namespace) => mapOf(namespace.status).phase),
  ageColumn,
];

export const podColumns: readonly Column[] = [
  nameColumn,
  column("Ready", (pod) => `${readyContainers(pod)}/${listOf(mapOf(pod.spec).containers).length}`),
  column("Status", (pod) => (pod.metadata.deletionTimestamp ? "Terminating" : mapOf(pod.status).phase)),
  column("Restarts", () => "0"),
  ageColumn,
  column("IP", (pod) => mapOf(pod.status).podIP, { wide: true }),
  column("Node", (pod) => mapOf(pod.spec).nodeName, { wide: true }),
];

export const secretColumns: readonly Column[] = [
  nameColumn,
  column("Type", (secret) => secret.type),
  column("Data", countOf("data"), { type: "integer" }),
  ageColumn,
];

export const configMapColumns: readonly Column[] = [nameColumn, column("Data", countOf("data")), ageColumn];

export const serviceColumns: readonly Column[] = [
  nameColumn,
  column("Type", (service) => mapOf(service.spec).type),
  column("Cluster-IP", (service) => mapOf(service.spec).clusterIP),
  column("External-IP", () => "<none>"),
  column("Port(s)", (service) => portsOf(listOf(mapOf(service.spec).ports))),
  ageColumn,
];

export const leaseColumns: readonly Column[] = [
  nameColumn,
  column("Holder", (lease) => mapOf(lease.spec).holderIdentity),
  ageColumn,
];

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  column("Ready", (deployment) => {
    const ready = mapOf(deployment.status).readyReplicas ?? 0;
    return `${ready}/${mapOf(deployment.spec).replicas ?? 1}`;
  }),
  column("Up-to-date", (deployment) => Number(mapOf(deployment.status).updatedReplicas ?? 0)),
  column("Available", (deployment) => Number(mapOf(deployment.status).availableReplicas ?? 0)),
  ageColumn,
];

export const endpointSliceColumns: readonly Column[] = [
  nameColumn,
  column("AddressType", (slice) => slice.addressType),
  column("Ports", (slice) => joined(listOf(slice.ports).map((port) => mapOf(port).port))),
  column("Endpoints", (slice) => joined(listOf(slice.endpoints).flatMap((one) => listOf(mapOf(one).addresses)))),
  ageColumn,
];

export const createdAtColumns: readonly Column[] = [
  nameColumn,
  column("Created At", (object) => object.metadata.creationTimestamp),
];

export const eventColumns: readonly Column[] = [
  {
    ...ageColumn,
    name: "Last Seen",
    value: (event, now) => humanAge(lastSeen(event), now),
  },
  column("Type", (event) => event.type),
  column("Reason", (event) => event.reason),
  column("Object", eventObject),
  column("Message", (event) => String(event.message ?? event.note ?? "").trim()),
];

function lastSeen(event: WireObject): string | undefined {
  const series = mapOf(event.series).lastObservedTime;
  const last = series ?? event.lastTimestamp ?? event.deprecatedLastTimestamp ?? event.eventTime;
  return String(last ?? event.metadata.creationTimestamp ?? "");
}

function eventObject(event: WireObject): string {
  const { kind, name } = mapOf(event.involvedObject ?? event.regarding);
  return `${String(kind ?? "").toLowerCase()}/${name ?? ""}`;
}

function nodeStatus(node: WireObject): string {
  const ready = listOf(mapOf(node.status).conditions)
    .map(mapOf)
    .find((condition) => condition.type === "Ready");
  const words = [ready ? (ready.status === "True" ? "Ready" : "NotReady") : "Unknown"];
  if (mapOf(node.spec).unschedulable) words.push("SchedulingDisabled");
  return words.join(",");
}

function nodeRoles(node: WireObject): string {
  const prefix = "node-role.kubernetes.io/";
  const labels = Object.keys(node.metadata.labels ?? {}).filter((label) => label.startsWith(prefix));
  return joined(labels.map((label) => label.slice(prefix.length)).sort());
}

function addressOf(node: WireObject, type: string): unknown {
  const addresses = listOf(mapOf(node.status).addresses).map(mapOf);
  return addresses.find((address) => address.type === type)?.address;
}

function nodeInfo(node: WireObject, field: string): unknown {
  return mapOf(mapOf(node.status).nodeInfo)[field] || "<unknown>";
}

function readyContainers(pod: WireObject): number {
  return listOf(mapOf(pod.status).containerStatuses).filter((status) => mapOf(status).ready === true).length;
}

function countOf(field: string): (object: WireObject) => number {
  return (object) => Object.keys(mapOf(object[field])).length;
}

function portsOf(ports: readonly unknown[]): string {
  return joined(ports.map(mapOf).map((port: JsonMap) => `${port.port}/${port.protocol ?? "TCP"}`));
}

function joined(parts: readonly unknown[]): string {
  return parts.length === 0 ? "<none>" : parts.join(",");
}

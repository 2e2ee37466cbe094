import { sameJson } from "../api/same-json.ts";
import { decodeEvent, validateCoreEvent } from "./event-validation.ts";
import { type FieldProblem, forbiddenField, invalidValue, required } from "./field-problem.ts";
import { isMap, type JsonMap, listOf, mapOf, without } from "./json.ts";
import { decodeLease, validateLease } from "./lease-validation.ts";
import { validateNode, withBothPodNetworks } from "./node-validation.ts";
import type { Rules } from "./served-resource.ts";
import { unreadable } from "./unreadable.ts";
import type { WireObject } from "./wire-object.ts";

/** The rules of a plain stored object such as a ConfigMap. */
export const plainRules: Rules = {
  name: "subdomain",
  generation: "none",
  unconditionalUpdate: true,
  createOnUpdate: false,
  returnsDeleted: false,
  status: "none",
  metaThroughStatus: true,
};

export const nodeRules: Rules = {
  ...plainRules,
  status: "open",
  prepare: (next, previous) => withNodeDefaults(withBothPodNetworks(previous ? next : withNotReadyTaint(next))),
  validate: validateNode,
};

export const namespaceRules: Rules = {
  ...plainRules,
  name: "label",
  status: "open",
  returnsDeleted: true,
  prepare: (next, previous) => ({
    ...next,
    metadata: {
      ...next.metadata,
      labels: { ...next.metadata.labels, "kubernetes.io/metadata.name": next.metadata.name },
    },
    spec: previous ? previous.spec : { finalizers: ["kubernetes"] },
    status: previous ? next.status : { phase: "Active" },
  }),
};

export const podRules: Rules = {
  ...plainRules,
  generation: "spec",
  returnsDeleted: true,
  status: "open",
  prepare: (next, previous) => (previous ? next : withPodDefaults(next)),
  validate: validatePod,
  graceSeconds: podGrace,
};

export const secretRules: Rules = {
  ...plainRules,
  decode: decodeSecret,
  prepare: foldStringData,
  validate: validateSecret,
};

export const configMapRules: Rules = {
  ...plainRules,
  decode: (object) => requireTexts(object, "data"),
  prepare: (next) => (Object.keys(mapOf(next.data)).length > 0 ? next : (without(next, "data") as WireObject)),
  validate: (next, previous) => [...keyProblems(next.data), ...immutableProblems(next, previous)],
};

/** Times that are not known are null in a typed event, and its source is never absent. */
export const eventRules: Rules = {
  ...plainRules,
  createOnUpdate: true,
  decode: decodeEvent,
  validate: validateCoreEvent,
  prepare: (next) => ({ firstTimestamp: null, lastTimestamp: null, source: {}, ...next }),
};

export const leaseRules: Rules = {
  ...plainRules,
  createOnUpdate: true,
  unconditionalUpdate: false,
  decode: decodeLease,
  validate: validateLease,
};

export const serviceRules: Rules = {
  ...plainRules,
  name: "dns-1035-label",
  createOnUpdate: true,
  returnsDeleted: true,
  status: "guarded",
  prepare: (next) => ({ ...next, spec: { type: "ClusterIP", sessionAffinity: "None", ...mapOf(next.spec) } }),
};

export const deploymentRules: Rules = {
  ...plainRules,
  generation: "spec",
  status: "guarded",
  metaThroughStatus: false,
};

export const endpointSliceRules: Rules = {
  ...plainRules,
  generation: "content",
  validate: (next) => (next.addressType === undefined ? [required("addressType")] : []),
};

export const rbacRules: Rules = { ...plainRules, name: "path-segment", createOnUpdate: true };

function withNotReadyTaint(node: WireObject): WireObject {
  const spec = mapOf(node.spec);
  const key = "node.kubernetes.io/not-ready";
  const taints = listOf(spec.taints);
  if (taints.some((taint) => mapOf(taint).key === key)) return node;
  return { ...node, spec: { ...spec, taints: [...taints, { key, effect: "NoSchedule" }] } };
}

const emptyNodeInfo = {
  machineID: "",
  systemUUID: "",
  bootID: "",
  kernelVersion: "",
  osImage: "",
  containerRuntimeVersion: "",
  kubeletVersion: "",
  kubeProxyVersion: "",
  operatingSystem: "",
  architecture: "",
};

function withNodeDefaults(node: WireObject): WireObject {
  const status = mapOf(node.status);
  const conditions = listOf(status.conditions).map((condition) => ({
    lastHeartbeatTime: null,
    lastTransitionTime: null,
    ...mapOf(condition),
  }));
  return {
    ...node,
    spec: node.spec ?? {},
    status: {
      daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
      ...status,
      ...(conditions.length > 0 && { conditions }),
      nodeInfo: { ...emptyNodeInfo, ...mapOf(status.nodeInfo) },
    },
  };
}

function withPodDefaults(pod: WireObject): WireObject {
  const spec = {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    enableServiceLinks: true,
    ...mapOf(pod.spec),
  };
  return { ...pod, spec, status: { phase: "Pending", qosClass: "BestEffort" } };
}

function validatePod(pod: WireObject): FieldProblem[] {
  const containers = listOf(mapOf(pod.spec).containers);
  if (containers.length === 0) return [required("spec.containers")];
  return containers.flatMap((container, index) =>
    mapOf(container).name ? [] : [required(`spec.containers[${index}].name`)],
  );
}

function podGrace(pod: WireObject, requested: number | undefined): number {
  const spec = mapOf(pod.spec);
  const { phase } = mapOf(pod.status);
  if (!spec.nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  return requested ?? Number(spec.terminationGracePeriodSeconds ?? 30);
}

function foldStringData(secret: WireObject, previous: WireObject | undefined): WireObject {
  const texts = Object.entries(mapOf(secret.stringData));
  const encoded = texts.map(([key, text]) => [key, Buffer.from(String(text)).toString("base64")] as const);
  const data: JsonMap = { ...mapOf(secret.data), ...Object.fromEntries(encoded) };
  const folded = without(secret, "stringData", "data") as WireObject;
  return {
    ...folded,
    ...(Object.keys(data).length > 0 && { data }),
    type: secret.type ?? previous?.type ?? "Opaque",
  };
}

function decodeSecret(secret: WireObject): void {
  requireTexts(secret, "data");
  requireTexts(secret, "stringData");
  for (const value of Object.values(mapOf(secret.data))) {
    const text = String(value);
    if (/^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0) continue;
    const at = text.search(/[^A-Za-z0-9+/]/);
    const where = at < 0 ? text.length - (text.length % 4) : at;
    throw unreadable(secret, `illegal base64 data at input byte ${where}`);
  }
}

function requireTexts(object: WireObject, field: string): void {
  const found = object[field];
  if (found !== undefined && !isMap(found)) {
    const type = Array.isArray(found) ? "array" : typeof found;
    const where = `Go struct field ${object.kind}.${field} of type map[string]string`;
    throw unreadable(object, `json: cannot unmarshal ${type} into ${where}`);
  }
  for (const value of Object.values(mapOf(object[field]))) {
    if (typeof value === "string") continue;
    const type = typeof value === "boolean" ? "bool" : typeof value;
    throw unreadable(
      object,
      `json: cannot unmarshal ${type} into Go struct field ${object.kind}.${field} of type string`,
    );
  }
}

function validateSecret(secret: WireObject, previous: WireObject | undefined): FieldProblem[] {
  const problems = [...keyProblems(secret.data), ...immutableProblems(secret, previous)];
  if (!previous || secret.type === previous.type) return problems;
  return [...problems, invalidValue("type", secret.type, "field is immutable")];
}

function immutableProblems(next: WireObject, previous: WireObject | undefined): FieldProblem[] {
  if (previous?.immutable !== true) return [];
  const rule = "field is immutable when `immutable` is set";
  const own = next.immutable === true ? [] : [forbiddenField("immutable", rule)];
  return sameJson(next.data, previous.data) ? own : [...own, forbiddenField("data", rule)];
}

function keyProblems(data: unknown): FieldProblem[] {
  const form = "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
  const rule = `a valid config key must consist of alphanumeric characters, '-', '_' or '.' ${form}`;
  const bad = Object.keys(mapOf(data)).filter((key) => !/^(?!\.{1,2}$)[-._a-zA-Z0-9]{1,253}$/.test(key));
  return bad.map((key) => invalidValue(`data[${key}]`, key, rule));
}

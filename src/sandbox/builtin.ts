import * as columns from "./builtin-columns.ts";
import * as rules from "./builtin-rules.ts";
import { crdRules } from "./crd.ts";
import { validateEvent } from "./event-validation.ts";
import { coreEventFields, eventFromWire, eventToWire, wireEventFields } from "./event-view.ts";
import type { ServedResource } from "./served-resource.ts";

type Facts = Partial<ServedResource>;

/** The built-in resources. `now` is the wall clock. */
export function builtInResources(now: () => Date): readonly ServedResource[] {
  return [
    ...clusterResources(),
    ...coreResources(),
    ...workloadResources(),
    ...groupResources(),
    ...rbacResources(),
    definitions(now),
  ];
}

const core = inGroup("", "v1");

function clusterResources(): readonly ServedResource[] {
  return [
    core("Namespace", "namespaces", {
      namespaced: false,
      shortNames: ["ns"],
      rules: rules.namespaceRules,
      columns: columns.namespaceColumns,
      selectableFields: ["status.phase"],
    }),
    core("Node", "nodes", {
      namespaced: false,
      shortNames: ["no"],
      rules: rules.nodeRules,
      columns: columns.nodeColumns,
      selectableFields: ["spec.unschedulable"],
    }),
  ];
}

function coreResources(): readonly ServedResource[] {
  return [
    core("Secret", "secrets", {
      fields: ["data", "immutable", "stringData", "type"],
      rules: rules.secretRules,
      columns: columns.secretColumns,
      selectableFields: ["type"],
    }),
    core("ConfigMap", "configmaps", {
      shortNames: ["cm"],
      fields: ["binaryData", "data", "immutable"],
      rules: rules.configMapRules,
      columns: columns.configMapColumns,
    }),
    core("ServiceAccount", "serviceaccounts", {
      fields: ["automountServiceAccountToken", "imagePullSecrets", "secrets"],
      shortNames: ["sa"],
      rules: { ...rules.plainRules, returnsDeleted: true },
    }),
    core("ResourceQuota", "resourcequotas", { shortNames: ["quota"] }),
    core("LimitRange", "limitranges", { shortNames: ["limits"] }),
    core("Event", "events", {
      shortNames: ["ev"],
      fields: coreEventFields,
      rules: rules.eventRules,
      columns: columns.eventColumns,
      selectableFields: eventFields("involvedObject"),
    }),
  ];
}

function workloadResources(): readonly ServedResource[] {
  return [
    core("Pod", "pods", {
      shortNames: ["po"],
      categories: ["all"],
      rules: rules.podRules,
      columns: columns.podColumns,
      selectableFields: [
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.serviceAccountName",
        "status.phase",
        "status.podIP",
      ],
    }),
    core("Service", "services", {
      shortNames: ["svc"],
      categories: ["all"],
      rules: rules.serviceRules,
      columns: columns.serviceColumns,
      selectableFields: ["spec.clusterIP", "spec.type"],
    }),
    inGroup("apps", "v1")("Deployment", "deployments", {
      shortNames: ["deploy"],
      categories: ["all"],
      rules: rules.deploymentRules,
      columns: columns.deploymentColumns,
    }),
    inGroup("apps", "v1")("DaemonSet", "daemonsets", {
      shortNames: ["ds"],
      categories: ["all"],
      rules: rules.deploymentRules,
    }),
  ];
}

function groupResources(): readonly ServedResource[] {
  return [
    inGroup("events.k8s.io", "v1")("Event", "events", {
      storedAs: "events",
      shortNames: ["ev"],
      columns: columns.eventColumns,
      fields: wireEventFields,
      rules: { ...rules.eventRules, validate: validateEvent },
      selectableFields: eventFields("regarding"),
      toWire: eventToWire,
      fromWire: eventFromWire,
    }),
    inGroup("coordination.k8s.io", "v1")("Lease", "leases", {
      rules: rules.leaseRules,
      columns: columns.leaseColumns,
    }),
    inGroup("discovery.k8s.io", "v1")("EndpointSlice", "endpointslices", {
      fields: ["addressType", "endpoints", "ports"],
      rules: rules.endpointSliceRules,
      columns: columns.endpointSliceColumns,
    }),
  ];
}

function rbacResources(): readonly ServedResource[] {
  const rbac = inGroup("rbac.authorization.k8s.io", "v1");
  const facts = { rules: rules.rbacRules, columns: columns.createdAtColumns };
  const binding = ["roleRef", "subjects"];
  return [
    rbac("Role", "roles", { ...facts, fields: ["rules"] }),
    rbac("RoleBinding", "rolebindings", { ...facts, fields: binding }),
    rbac("ClusterRole", "clusterroles", { ...facts, fields: ["aggregationRule", "rules"], namespaced: false }),
    rbac("ClusterRoleBinding", "clusterrolebindings", { ...facts, fields: binding, namespaced: false }),
  ];
}

function definitions(now: () => Date): ServedResource {
  return inGroup("apiextensions.k8s.io", "v1")("CustomResourceDefinition", "customresourcedefinitions", {
    namespaced: false,
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    rules: crdRules(now),
    columns: columns.createdAtColumns,
  });
}

function inGroup(group: string, version: string) {
  return (kind: string, plural: string, facts: Facts): ServedResource => ({
    group,
    version,
    kind,
    plural,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    namespaced: true,
    shortNames: [],
    categories: [],
    storedAs: group === "" ? plural : `${plural}.${group}`,
    custom: false,
    rules: rules.plainRules,
    columns: columns.plainColumns,
    fields: ["spec", "status"],
    selectableFields: [],
    ...facts,
  });
}

function eventFields(subject: string): readonly string[] {
  const parts = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];
  return [...parts.map((part) => `${subject}.${part}`), "reason", "reportingComponent", "source", "type"];
}

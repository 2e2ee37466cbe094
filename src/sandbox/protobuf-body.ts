import { decodeMessage, type Message, partsOf } from "./protobuf.ts";
import { badRequest, unsupportedMediaType } from "./status.ts";

export const protobufType = "application/vnd.kubernetes.protobuf";

const objectReference: Message = {
  1: ["kind", "text"],
  2: ["namespace", "text"],
  3: ["name", "text"],
  4: ["uid", "text"],
  5: ["apiVersion", "text"],
  6: ["resourceVersion", "text"],
  7: ["fieldPath", "text"],
};

const ownerReference: Message = {
  1: ["kind", "text"],
  3: ["name", "text"],
  4: ["uid", "text"],
  5: ["apiVersion", "text"],
  6: ["controller", "boolean"],
  7: ["blockOwnerDeletion", "boolean"],
};

const metadata: Message[1] = [
  "metadata",
  {
    one: {
      1: ["name", "text"],
      2: ["generateName", "text"],
      3: ["namespace", "text"],
      5: ["uid", "text"],
      6: ["resourceVersion", "text"],
      7: ["generation", "integer"],
      8: ["creationTimestamp", "time"],
      9: ["deletionTimestamp", "time"],
      10: ["deletionGracePeriodSeconds", "integer"],
      11: ["labels", "text-map"],
      12: ["annotations", "text-map"],
      13: ["ownerReferences", { many: ownerReference }],
      14: ["finalizers", "texts"],
    },
  },
];

const policyRule: Message = {
  1: ["verbs", "texts"],
  2: ["apiGroups", "texts"],
  3: ["resources", "texts"],
  4: ["resourceNames", "texts"],
  5: ["nonResourceURLs", "texts"],
};
const subject: Message = {
  1: ["kind", "text"],
  2: ["apiGroup", "text"],
  3: ["name", "text"],
  4: ["namespace", "text"],
};
const roleRef: Message = { 1: ["apiGroup", "text"], 2: ["kind", "text"], 3: ["name", "text"] };
const role: Message = { 1: metadata, 2: ["rules", { many: policyRule }] };
const binding: Message = { 1: metadata, 2: ["subjects", { many: subject }], 3: ["roleRef", { one: roleRef }] };

const attributes: Message = {
  1: ["namespace", "text"],
  2: ["verb", "text"],
  3: ["group", "text"],
  4: ["version", "text"],
  5: ["resource", "text"],
  6: ["subresource", "text"],
  7: ["name", "text"],
};
const paths: Message = { 1: ["path", "text"], 2: ["verb", "text"] };
const accessSpec: Message = {
  1: ["resourceAttributes", { one: attributes }],
  2: ["nonResourceAttributes", { one: paths }],
};

const leaseSpec: Message = {
  1: ["holderIdentity", "text"],
  2: ["leaseDurationSeconds", "integer"],
  3: ["acquireTime", "micro-time"],
  4: ["renewTime", "micro-time"],
  5: ["leaseTransitions", "integer"],
};

const event: Message = {
  1: metadata,
  2: ["involvedObject", { one: objectReference }],
  3: ["reason", "text"],
  4: ["message", "text"],
  5: ["source", { one: { 1: ["component", "text"], 2: ["host", "text"] } }],
  6: ["firstTimestamp", "time"],
  7: ["lastTimestamp", "time"],
  8: ["count", "integer"],
  9: ["type", "text"],
  10: ["eventTime", "micro-time"],
  12: ["action", "text"],
  13: ["related", { one: objectReference }],
  14: ["reportingComponent", "text"],
  15: ["reportingInstance", "text"],
};

/** The types that kubectl sends as protobuf, by apiVersion and kind. */
const messages: Readonly<Record<string, Message>> = {
  "v1 Namespace": { 1: metadata, 2: ["spec", { one: { 1: ["finalizers", "texts"] } }] },
  "v1 Secret": {
    1: metadata,
    2: ["data", "bytes-map"],
    3: ["type", "text"],
    4: ["stringData", "text-map"],
    5: ["immutable", "boolean"],
  },
  "v1 ConfigMap": {
    1: metadata,
    2: ["data", "text-map"],
    3: ["binaryData", "bytes-map"],
    4: ["immutable", "boolean"],
  },
  "v1 ServiceAccount": { 1: metadata, 4: ["automountServiceAccountToken", "boolean"] },
  "v1 Event": event,
  "coordination.k8s.io/v1 Lease": { 1: metadata, 2: ["spec", { one: leaseSpec }] },
  "rbac.authorization.k8s.io/v1 Role": role,
  "rbac.authorization.k8s.io/v1 ClusterRole": role,
  "rbac.authorization.k8s.io/v1 RoleBinding": binding,
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": binding,
  "authorization.k8s.io/v1 SelfSubjectAccessReview": { 1: metadata, 2: ["spec", { one: accessSpec }] },
  "authorization.k8s.io/v1 SelfSubjectRulesReview": { 1: metadata, 2: ["spec", { one: { 1: ["namespace", "text"] } }] },
  "authentication.k8s.io/v1 SelfSubjectReview": { 1: metadata },
};

const deleteOptions: Message = {
  1: ["gracePeriodSeconds", "integer"],
  2: ["preconditions", { one: { 1: ["uid", "text"], 2: ["resourceVersion", "text"] } }],
  4: ["propagationPolicy", "text"],
  5: ["dryRun", "texts"],
};

const magic = Buffer.from("k8s\u0000");

/** A request body in Kubernetes' protobuf envelope, as JSON. Other types than the ones above are `UnsupportedMediaType`. */
export function decodeProtobuf(body: Buffer): unknown {
  if (!body.subarray(0, 4).equals(magic)) throw badRequest("provided data does not appear to be a protobuf message");
  const parts = [...partsOf(body.subarray(4))];
  const bytes = (field: number): Buffer => {
    const value = parts.find((part) => part.field === field)?.value;
    return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
  };
  const type = decodeMessage(bytes(1), { 1: ["apiVersion", "text"], 2: ["kind", "text"] });
  const message = type.kind === "DeleteOptions" ? deleteOptions : messages[`${type.apiVersion} ${type.kind}`];
  if (!message) throw unsupportedMediaType(["application/json", "application/yaml"]);
  return { ...type, ...decodeMessage(bytes(2), message) };
}

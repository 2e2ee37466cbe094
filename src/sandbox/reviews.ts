import type { Authentication } from "./authentication.ts";
import type { Call } from "./call.ts";
import { jsonReply, type Reply } from "./exchange.ts";
import { isMap } from "./json.ts";
import { badRequest } from "./status.ts";

interface Review {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  answer(authentication: Authentication): object;
}

const rules = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
};

/** Questions about access. They are answered and not stored. */
export const reviews: readonly Review[] = [
  review("authorization.k8s.io", "SelfSubjectAccessReview", () => ({ allowed: true })),
  review("authorization.k8s.io", "SubjectAccessReview", () => ({ allowed: true })),
  review("authorization.k8s.io", "SelfSubjectRulesReview", () => rules),
  { ...review("authorization.k8s.io", "LocalSubjectAccessReview", () => ({ allowed: true })), namespaced: true },
  review("authentication.k8s.io", "SelfSubjectReview", ({ user }) => ({ userInfo: user })),
];

function review(group: string, kind: string, answer: Review["answer"]): Review {
  return { group, kind, plural: `${kind.toLowerCase()}s`, namespaced: false, answer };
}

/** The answer to a review, or undefined when the call is something else. */
export async function reviewReply(
  { route, verb }: Call,
  readBody: () => Promise<unknown>,
  authentication: Authentication,
): Promise<Reply | undefined> {
  if (!route || verb !== "create" || route.version !== "v1") return undefined;
  const found = reviews.find(({ group, plural }) => group === route.group && plural === route.plural);
  if (!found) return undefined;
  const body = await readBody();
  if (!isMap(body)) throw badRequest("the object provided is unrecognized (must be a JSON object)");
  const head = { kind: found.kind, apiVersion: `${found.group}/v1`, metadata: { creationTimestamp: null } };
  return jsonReply(201, { ...body, ...head, status: found.answer(authentication) });
}

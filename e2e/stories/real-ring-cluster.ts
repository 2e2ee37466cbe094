import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { nodes } from "../../src/api/kilo-node.ts";
import { peers } from "../../src/api/kilo-peer.ts";
import { createClient } from "../../src/kube/http-client.ts";
import { homeNamespace, type Letter } from "../../test/stories/facts.ts";
import {
  type Credential,
  type CredentialOptions,
  operatorAgent,
  type PeerVerb,
  type RingCluster,
  type StoryRequest,
} from "../../test/stories/ring.ts";
import { eventually } from "../../test/support/eventually.ts";
import { configOf } from "../../test/support/run-operator.ts";
import { auditFileOf, serviceAccountKeyOf } from "../control-plane/api-server.ts";
import type { AuditEntry } from "../control-plane/audit.ts";
import { leewayMs, tokenEndingAt } from "../control-plane/ended-token.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import type { PolicyRule, ScopedAccess } from "../control-plane/scoped-access.ts";
import { AuditTail } from "./audit-tail.ts";
import { type Rights, withoutPeerVerb } from "./rights.ts";
import { quietly } from "./wipe.ts";

const markPath = "/version?mark=";
/** So long that no mesh has to warn of the end. */
const expirationSeconds = 30 * 86_400;
/** After its end. */
const acceptedForMs = 8000;

/** A real API server as stories see it. It outlives them; each story asks for credentials of its own. */
export class RealRingCluster implements RingCluster {
  readonly letter: Letter;
  readonly url: string;
  readonly admin: RingCluster["admin"];
  readonly #cluster: RealCluster;
  readonly #tail: AuditTail;
  #rights: Rights = { local: [], own: [], remote: [] };
  /** The ServiceAccounts in use, with what each may do. */
  #accounts = new Map<string, readonly PolicyRule[]>();
  #requests: StoryRequest[] = [];
  /** Each time from a start of the server until it knew who may do what: before that it refuses everybody. */
  #starts: { readonly from: number; readonly to: number }[] = [];
  #accountsMade = 0;
  #isAway = false;

  constructor(letter: Letter, cluster: RealCluster) {
    this.letter = letter;
    this.url = cluster.url;
    this.admin = createClient(configOf(cluster.adminKubeconfig), { cluster: letter, userAgent: "story-admin" });
    this.#cluster = cluster;
    this.#tail = new AuditTail(auditFileOf(cluster.folder));
  }

  /** Forgets the story before. */
  async startOver(rights: Rights): Promise<void> {
    this.#rights = rights;
    this.#accounts = new Map();
    await this.bringBack();
    await this.requests();
    this.#requests = [];
    this.#starts = [];
  }

  async operatorKubeconfig(): Promise<string> {
    const { local, own } = this.#rights;
    const name = this.#newName("operator");
    const kubeconfig = await this.#account(name, { clusterRoleRules: local, roleRules: own });
    // An operator that is refused at its very start ends.
    for (const rule of [local.at(0), own.at(0)]) if (rule) await this.#untilAllowed(name, rule, true);
    return kubeconfig;
  }

  async credential({ isEnding = false }: CredentialOptions = {}): Promise<Credential> {
    const name = this.#newName("remote");
    const { remote } = this.#rights;
    const lasting = await this.#account(name, { clusterRoleRules: remote });
    const kubeconfig = isEnding ? await this.#ending(lasting) : lasting;
    if (remote[0]) await this.#untilAllowed(name, remote[0], true);
    const revoke = async (): Promise<void> => {
      this.#accounts.delete(name);
      const path = `/api/v1/namespaces/${homeNamespace}/serviceaccounts/${name}`;
      await this.#cluster.requestJson({ method: "DELETE", path });
    };
    return { kubeconfig, revoke };
  }

  async #ending(kubeconfig: string): Promise<string> {
    const { token } = configOf(kubeconfig);
    if (typeof token !== "string") throw new Error("unreachable");
    const key = await readFile(serviceAccountKeyOf(this.#cluster.folder), "utf8");
    const at = new Date(Date.now() - leewayMs + acceptedForMs);
    return kubeconfig.replace(token, tokenEndingAt(token, at, key));
  }

  async takeAway(): Promise<void> {
    this.#isAway = true;
    await this.#cluster.stopServer();
  }

  async bringBack(): Promise<void> {
    const from = Date.now();
    await this.#cluster.startServer();
    this.#isAway = false;
    // Ready is said before every list is warm: the first ones may still be sent away.
    await eventually(() => Promise.all([this.admin.list(nodes), quietly(this.admin.list(peers))]));
    for (const [name, [rule]] of this.#accounts) if (rule) await this.#untilAllowed(name, rule, true);
    this.#starts.push({ from, to: Date.now() });
  }

  async refusePeers(verb: PeerVerb): Promise<() => Promise<void>> {
    await this.#grantAll((rules) => withoutPeerVerb(rules, verb));
    await this.#untilAllAllowed(verb, false);
    return async () => {
      await this.#grantAll((rules) => rules);
      await this.#untilAllAllowed(verb, true);
    };
  }

  async requests(): Promise<readonly StoryRequest[]> {
    const mark = this.#isAway ? undefined : `${markPath}${randomUUID()}`;
    if (mark) await this.#cluster.request({ path: mark });
    await eventually(async () => {
      const entries = await this.#tail.read([operatorAgent, markPath]);
      this.#requests.push(...entries.filter(isCounted).map((entry) => this.#requestOf(entry)));
      if (mark && !entries.some(({ uri }) => uri === mark)) throw new Error("the audit log is not written");
    });
    return this.#requests;
  }

  #requestOf({ verb, resource, subresource, name, code, timestamp }: AuditEntry): StoryRequest {
    const at = timestamp.getTime();
    const isStarting = this.#starts.some(({ from, to }) => from <= at && at <= to);
    return { verb, resource, subresource, name, code, ...(isStarting && { isStarting }) };
  }

  /** A new one each time, so that no right is remembered from before. */
  #newName(what: string): string {
    return `${what}-${++this.#accountsMade}`;
  }

  async #account(name: string, rules: Pick<ScopedAccess, "clusterRoleRules" | "roleRules">): Promise<string> {
    this.#accounts.set(name, rules.clusterRoleRules ?? []);
    return this.#cluster.scopedKubeconfig({ name, namespace: homeNamespace, expirationSeconds, ...rules });
  }

  async #grantAll(change: (rules: readonly PolicyRule[]) => readonly PolicyRule[]): Promise<void> {
    for (const [name, rules] of this.#accounts)
      await this.#cluster.scopedKubeconfig({ name, namespace: homeNamespace, clusterRoleRules: change(rules) });
  }

  async #untilAllAllowed(verb: PeerVerb, wanted: boolean): Promise<void> {
    const rule = { apiGroups: ["kilo.squat.ai"], resources: ["peers"], verbs: [verb] };
    for (const name of this.#accounts.keys()) await this.#untilAllowed(name, rule, wanted);
  }

  /** Rights take effect a moment after they were written. Asks for the first thing of the rule. */
  async #untilAllowed(account: string, rule: PolicyRule, wanted: boolean): Promise<void> {
    const user = `system:serviceaccount:${homeNamespace}:${account}`;
    const [group = "", resource = "", verb = ""] = [rule.apiGroups?.[0], rule.resources?.[0], rule.verbs[0]];
    const name = rule.resourceNames?.[0] ?? "";
    const resourceAttributes = { verb, group, resource, name, namespace: homeNamespace };
    const body = { spec: { user, resourceAttributes } };
    const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    await eventually(async () => {
      const review = await this.#cluster.requestJson<Review>({ method: "POST", path, body });
      if (review.status.allowed !== wanted) throw new Error(`${verb} is still ${wanted ? "refused" : "allowed"}`);
    });
  }
}

interface Review {
  readonly status: { readonly allowed: boolean };
}

const isCounted = ({ userAgent, open }: AuditEntry): boolean => userAgent.startsWith(operatorAgent) && !open;

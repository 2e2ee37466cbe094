import type { KubeClient } from "../../src/kube/client.ts";
import type { Letter } from "./facts.ts";

/** Where stories are played. */
export interface Ring {
  readonly name: "sandbox" | "real";
  /** How many seconds of the operator's clock pass in one of ours. */
  readonly clockFactor: number;
  /** How long a story waits for what has to come. Half a minute when not said. */
  readonly patienceMs?: number;
  /** Whether the times that stories measure are bounded: only those of real servers say anything. */
  readonly boundsTimes: boolean;
  /** Its operators lack rights that they need: what they are refused fails no story by itself. */
  readonly lacksRights?: boolean;
  /** How many stories may be played at once. */
  readonly parallel: number;
  /** Three clusters with Kilo's type and both namespaces, and nothing else in them that a story could meet. */
  open(): Promise<Arena>;
  stop(): Promise<void>;
}

export interface Arena {
  readonly clusters: Readonly<Record<Letter, RingCluster>>;
  close(): Promise<void>;
}

export interface RingCluster {
  readonly letter: Letter;
  readonly url: string;
  /** May do everything; its requests are not counted. */
  readonly admin: KubeClient;
  /** What an operator that runs in this cluster uses. */
  operatorKubeconfig(): Promise<string>;
  /** What an operator elsewhere uses to reach this cluster; another one with each call. */
  credential(options?: CredentialOptions): Promise<Credential>;
  /** The API server ends; its port refuses connections. */
  takeAway(): Promise<void>;
  /** The same server with the same data, ready to answer. */
  bringBack(): Promise<void>;
  /** Takes a right on Peers from every operator; the returned function gives it back. */
  refusePeers(verb: PeerVerb): Promise<() => Promise<void>>;
  /** What operators have asked for since the arena was opened, watches included. */
  requests(): Promise<readonly StoryRequest[]>;
}

export type PeerVerb = "create" | "update" | "delete";

export interface CredentialOptions {
  /** It says that it has ended; the API server, which allows for other clocks, takes it for some seconds more. */
  readonly isEnding?: boolean;
}

export interface Credential {
  readonly kubeconfig: string;
  /** From now on the API server refuses it. A stream that is open may live on. */
  revoke(): Promise<void>;
}

/** One request of an operator, as the API server has counted it. */
export interface StoryRequest {
  readonly verb: string;
  /** The plural. */
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly code: number;
  /** The server had just been started and did not know yet who may do what. */
  readonly isStarting?: boolean;
}

/** The operators of stories say this in their User-Agent, and nobody else does. */
export const operatorAgent = "story-operator";

import type { Authentication } from "./authentication.ts";
import { type Call, callOf, faultSubject, logEntry } from "./call.ts";
import { discoveryReply, isBuiltInGroup } from "./discovery.ts";
import {
  breakOff,
  mediaType,
  type Reply,
  readBody,
  type ServerAnswer,
  type ServerRequest,
  send,
  statusReply,
  textReply,
} from "./exchange.ts";
import type { Faults } from "./faults.ts";
import * as handlers from "./handlers.ts";
import type { ObjectStore } from "./object-store.ts";
import { protobufType } from "./protobuf-body.ts";
import type { RequestLog } from "./request-log.ts";
import { reviewReply } from "./reviews.ts";
import { failureOf, internalError, methodNotAllowed, noSuchResource, notFound, StatusError } from "./status.ts";
import { startWatch } from "./watch-handler.ts";

export interface ApiServerOptions {
  readonly store: ObjectStore;
  readonly faults: Faults;
  readonly requests: RequestLog;
  readonly authentication: Authentication;
  readonly now: () => Date;
  readonly bookmarkEveryMs: number;
}

const jsonTypes = ["application/json", "application/yaml", protobufType];
const patchTypes = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];

/** Answers the requests of one cluster. */
export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #watches = new Set<{ destroy(): void }>();
  readonly #startedAt = performance.now();

  constructor(options: ApiServerOptions) {
    this.#options = options;
  }

  async handle(request: ServerRequest, answer: ServerAnswer): Promise<void> {
    const call = callOf(request, this.#options.store.catalogue);
    try {
      if (await this.#failsFirst(call, request, answer)) return;
      this.#options.authentication.check(call);
      if (call.verb === "watch" && call.route && isServed(call.route)) return this.#watch(call, request, answer);
      const reply = await this.#reply(call, request);
      await this.#finish(call, { request, answer, reply });
    } catch (error) {
      await this.#finish(call, { request, answer, reply: statusReply(asStatusError(error)) });
    }
  }

  /** Breaks every open watch. */
  cutWatches(): void {
    for (const watch of [...this.#watches]) watch.destroy();
  }

  #watch(call: Call, request: ServerRequest, answer: ServerAnswer): void {
    const { store, faults, now, bookmarkEveryMs } = this.#options;
    const watch = startWatch({ call, request, answer, store, faults, now, bookmarkEveryMs });
    this.#watches.add(watch);
    const entry = this.#log(call, 200);
    const close = entry && this.#options.requests.open(entry);
    answer.once("close", () => {
      this.#watches.delete(watch);
      close?.();
    });
  }

  async #reply(call: Call, request: ServerRequest): Promise<Reply> {
    const { store, now } = this.#options;
    const { route, verb } = call;
    if (!route) return discoveryReply(call, store.catalogue) ?? textReply(404, "404 page not found\n");
    const review = await reviewReply(call, () => readBody(request, jsonTypes), this.#options.authentication);
    if (review) return review;
    const { served } = route;
    if (!served || !isServed(route)) return this.#nothing(call);
    if (!verb || !allows(call)) throw methodNotAllowed();
    const context = { call, route, served, store, now: now(), warn: (text: string) => call.warnings.push(text) };
    if (verb === "get") return handlers.handleGet(context);
    if (verb === "list") return handlers.handleList(context, this.#staleRevision(call));
    if (verb === "watch") throw methodNotAllowed();
    const accepted = verb === "patch" ? patchTypes : jsonTypes;
    const value = await readBody(request, accepted);
    return writeHandlers[verb](context, { type: mediaType(request), value });
  }

  /** What a path answers that leads to no object: custom groups are unknown, built-in ones lack the resource. */
  #nothing({ route }: Call): Reply {
    const group = route?.group ?? "";
    if (route?.served?.custom && route.namespace && route.subresource) throw notFound(route.served, route.name ?? "");
    if (isBuiltInGroup(group, this.#options.store.catalogue)) throw noSuchResource();
    return textReply(404, "404 page not found\n");
  }

  /** Faults that strike before the request is looked at. True: there is nothing left to do. */
  async #failsFirst(call: Call, request: ServerRequest, answer: ServerAnswer): Promise<boolean> {
    const { faults } = this.#options;
    if (!faults.active) return false;
    const subject = faultSubject(call);
    const latency = faults.take(subject, ["latency"]);
    if (latency) await new Promise((resolve) => setTimeout(resolve, latency.ms));
    const fault = faults.take(subject, ["refuse", "status", "garbage"], (action) => {
      return action.kind !== "garbage" || call.verb !== "watch" || action.code !== undefined;
    });
    if (!fault) return false;
    if (fault.kind === "refuse") {
      this.#log(call, 0);
      breakOff(request, answer, true);
      return true;
    }
    if (fault.kind === "status") throw failureOf(fault.code, fault.retryAfterSeconds);
    const code = fault.code ?? 200;
    this.#log(call, code);
    await send(request, answer, { code, pieces: [garbagePage], contentType: "text/html; charset=utf-8" });
    return true;
  }

  async #finish(
    call: Call,
    { request, answer, reply }: { request: ServerRequest; answer: ServerAnswer; reply: Reply },
  ): Promise<void> {
    const { faults } = this.#options;
    if (reply.code < 300 && faults.active && faults.take(faultSubject(call), ["drop-response"])) {
      this.#log(call, 0);
      breakOff(request, answer, false);
      return;
    }
    this.#log(call, reply.code);
    await send(request, answer, withWarnings(reply, call.warnings));
  }

  #staleRevision(call: Call): string | undefined {
    const { faults, store } = this.#options;
    const fault = faults.active ? faults.take(faultSubject(call), ["stale-list"]) : undefined;
    if (!fault) return undefined;
    return fault.resourceVersion ?? String(Math.max(store.revision - (fault.behind ?? 1), 1));
  }

  #log(call: Call, code: number) {
    const entry = logEntry(call, code, performance.now() - this.#startedAt);
    if (entry) this.#options.requests.add(entry);
    return entry;
  }
}

const garbagePage = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>\n";

const writeHandlers = {
  create: handlers.handleCreate,
  update: handlers.handleUpdate,
  patch: handlers.handlePatch,
  delete: handlers.handleDelete,
  deletecollection: handlers.handleDeleteCollection,
} as const;

function withWarnings(reply: Reply, warnings: readonly string[]): Reply {
  if (warnings.length === 0) return reply;
  const warning = warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(", ");
  return { ...reply, headers: { ...reply.headers, warning } };
}

function isServed({ served, namespace, name, subresource }: NonNullable<Call["route"]>): boolean {
  if (!served || (namespace !== undefined && !served.namespaced)) return false;
  if (served.namespaced && namespace === undefined && name !== undefined) return false;
  return subresource === undefined || (subresource === "status" && served.rules.status !== "none");
}

function allows({ verb, route }: Call): boolean {
  if (route?.subresource !== undefined) return verb === "get" || verb === "update" || verb === "patch";
  if (verb === "deletecollection" && route?.served?.storedAs === "namespaces") return false;
  const everywhere = route?.served?.namespaced === true && route.namespace === undefined;
  return !everywhere || verb === "list" || verb === "watch";
}

function asStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  return internalError(error instanceof Error ? error.message : String(error));
}

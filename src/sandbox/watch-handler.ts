import { type Call, faultSubject } from "./call.ts";
import { breakOff, isGone, type ServerAnswer, type ServerRequest } from "./exchange.ts";
import type { Faults } from "./faults.ts";
import { renderOptions } from "./handlers.ts";
import type { ObjectStore } from "./object-store.ts";
import { selectorOf } from "./selectors.ts";
import { notFound, StatusError } from "./status.ts";
import { Watch, type WatchSink } from "./watch.ts";
import { eventsBefore, type WatchQuery, watchQueryOf } from "./watch-query.ts";

export interface WatchStart {
  readonly call: Call;
  readonly request: ServerRequest;
  readonly answer: ServerAnswer;
  readonly store: ObjectStore;
  readonly faults: Faults;
  readonly now: () => Date;
  readonly bookmarkEveryMs: number;
}

/** Accepts a watch and keeps it going until its time is over or the client leaves. */
export function startWatch(start: WatchStart): Watch {
  const { call, store, answer, faults } = start;
  const { route } = call;
  if (!route?.served) throw notFound({ group: route?.group ?? "", plural: route?.plural ?? "" }, "");
  const { served } = route;
  const query = watchQueryOf(call.query);
  const selects = selectorOf(served, {
    namespace: route.namespace,
    labelSelector: call.query.get("labelSelector") ?? undefined,
    fieldSelector: call.query.get("fieldSelector") ?? undefined,
  });
  const { format, include } = renderOptions({ call, now: start.now() });
  const events = eventsBefore(store, served, query);
  const watch = new Watch({
    served,
    selects,
    render: () => ({ format, include, now: start.now() }),
    sink: sinkOf(start),
    faults,
    subject: faultSubject(call),
    bookmarks: query.bookmarks,
    after: query.initialEvents ? 0 : query.resourceVersion,
    revision: () => store.revision,
  });
  answer.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
  answer.flushHeaders();
  if (events instanceof StatusError) {
    watch.error(events.status);
    return watch;
  }
  for (const event of events) watch.changed(event);
  if (query.initialEvents) watch.bookmark({ "k8s.io/initial-events-end": "true" });
  keepGoing(start, watch, query);
  return watch;
}

/** A watch that lasts longer than this gets a bookmark so long before its end. */
const lastBookmarkMs = 2000;

function keepGoing(
  { call, request, store, answer, faults, bookmarkEveryMs }: WatchStart,
  watch: Watch,
  query: WatchQuery,
): void {
  // The client may have left while a fault delayed the answer; its close will not be told again.
  if (isGone(request, answer)) {
    watch.abandoned();
    return;
  }
  const storedAs = call.route?.served?.storedAs ?? "";
  const leave = [store.collection(storedAs).history.subscribe(watch), faults.subscribe(() => watch.checkFaults())];
  const bookmarks = setInterval(() => watch.bookmark(), bookmarkEveryMs);
  const endAfterMs = query.timeoutSeconds * 1000;
  const timers = [setTimeout(() => watch.end(), endAfterMs)];
  if (endAfterMs > lastBookmarkMs) timers.push(setTimeout(() => watch.bookmark(), endAfterMs - lastBookmarkMs));
  answer.on("drain", () => watch.drained());
  answer.once("close", () => {
    clearInterval(bookmarks);
    timers.forEach(clearTimeout);
    for (const unsubscribe of leave) unsubscribe();
    watch.abandoned();
  });
  watch.checkFaults();
}

function sinkOf({ request, answer }: WatchStart): WatchSink {
  return {
    write: (chunk) => answer.write(chunk),
    end: () => {
      answer.end();
    },
    destroy: (last) => {
      if (last) answer.write(last, () => breakOff(request, answer, false));
      else breakOff(request, answer, false);
    },
  };
}

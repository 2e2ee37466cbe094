import { type Change, Informer, type InformerOptions, type Knowledge } from "../../src/kube/informer.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { nodes } from "../../src/kube/resource.ts";
import type { Fields, Logger } from "../../src/runtime/log.ts";
import { FakeClock } from "./fake-clock.ts";
import { aList, ScriptedClient, ScriptedStream } from "./scripted-client.ts";

/** An informer over objects whose only fact is their label `value`, with everything around it in the test's hands. */
export function anInformer(overrides: Partial<InformerOptions<KubeObject, string>> = {}) {
  const clock = new FakeClock();
  const client = new ScriptedClient();
  const stream = new ScriptedStream();
  const log = new NotingLogger();
  client.willList(aList(10));
  client.willWatch(stream);
  const informer = new Informer<KubeObject, string>({
    client,
    clock,
    log,
    resource: nodes,
    decode: valueLabel,
    same: (before, after) => before === after,
    random: () => 0.5,
    ...overrides,
  });
  const changes: Change<string>[] = [];
  const knowledge: Knowledge[] = [];
  informer.onChange((change) => changes.push(change));
  informer.onKnowledge((state) => knowledge.push(state));
  const facts = () => Object.fromEntries(informer.entries());
  const start = async () => {
    informer.start();
    await clock.settle();
  };
  return { clock, client, stream, log, informer, changes, knowledge, facts, start };
}

export function valueLabel(object: KubeObject): string {
  const value = object.metadata.labels?.value;
  if (value === undefined) throw new Error(`no value, but a secret: ${JSON.stringify(object)}`);
  return value;
}

/** Keeps what it is told, for tests that care. */
export class NotingLogger implements Logger {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: Fields | undefined }[] = [];
  debug = (message: string, fields?: Fields) => this.#note("debug", message, fields);
  info = (message: string, fields?: Fields) => this.#note("info", message, fields);
  warn = (message: string, fields?: Fields) => this.#note("warn", message, fields);
  error = (message: string, fields?: Fields) => this.#note("error", message, fields);
  with = (): Logger => this;

  of(level: string): readonly string[] {
    return this.lines.filter((line) => line.level === level).map(({ message }) => message);
  }

  #note(level: string, message: string, fields: Fields | undefined): void {
    this.lines.push({ level, message, fields });
  }
}

import { firstLastSeen, firstPort, listVersion } from "./objects.ts";

/** One event in so many changes what the mesh needs to know; the others are signs of life. */
const factChangeEvery = 10;
const eventsPerWrite = 32;

/** How many of `events` events change a fact. */
export function factChangesIn(events: number): number {
  return Math.floor(events / factChangeEvery);
}

/** The version of the last of `events` events. */
export function lastVersionOf(events: number): string {
  return String(listVersion + events);
}

/** A Node as an event, and where in it the figures stand that change from one event to the next. */
export interface EventForm {
  readonly bytes: Buffer;
  readonly versionAt: number;
  readonly lastSeenAt: number;
  readonly portAt: number;
}

export function eventForm(nodeJson: Buffer): EventForm {
  const bytes = Buffer.concat([Buffer.from('{"type":"MODIFIED","object":'), nodeJson, Buffer.from("}\n")]);
  const endpointAt = placeAfter(bytes, '"kilo.squat.ai/force-endpoint":"');
  return {
    bytes,
    versionAt: placeAfter(bytes, '"resourceVersion":"'),
    lastSeenAt: placeAfter(bytes, '"kilo.squat.ai/last-seen":"'),
    portAt: bytes.indexOf(":", endpointAt) + 1,
  };
}

/** `count` events, round and round the Nodes, several to a buffer. Nothing is serialised here: figures are overwritten. */
export function* eventWrites(forms: readonly EventForm[], count: number): Generator<Buffer, void, undefined> {
  const changes = new Uint16Array(forms.length);
  // A form must not come twice in one buffer: its bytes are copied when the buffer is made.
  const perWrite = Math.min(eventsPerWrite, forms.length);
  let batch: Buffer[] = [];
  for (let event = 1; event <= count; event++) {
    const node = (event - 1) % forms.length;
    const form = forms[node];
    if (!form) return;
    if (event % factChangeEvery === 0) changes[node] = (changes[node] ?? 0) + 1;
    batch.push(filled(form, event, changes[node] ?? 0));
    if (batch.length < perWrite && event < count) continue;
    yield Buffer.concat(batch);
    batch = [];
  }
}

function filled(form: EventForm, event: number, changes: number): Buffer {
  const { bytes, versionAt, lastSeenAt, portAt } = form;
  bytes.write(String(listVersion + event), versionAt, "latin1");
  bytes.write(String(firstLastSeen + event), lastSeenAt, "latin1");
  bytes.write(String(firstPort + (changes % firstPort)), portAt, "latin1");
  return bytes;
}

function placeAfter(bytes: Buffer, text: string): number {
  const at = bytes.indexOf(text);
  if (at < 0) throw new Error(`the bench node has no ${text}`);
  return at + text.length;
}

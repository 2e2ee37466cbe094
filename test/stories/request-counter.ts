import { type Letter, letters } from "./facts.ts";
import type { RingCluster, StoryRequest } from "./ring.ts";
import type { Costs } from "./stage.ts";

const writes = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** Counts what the operators ask the API servers for, from a mark on. */
export class RequestCounter {
  readonly #clusters: Readonly<Record<Letter, RingCluster>>;
  #marks = new Map<Letter, number>();

  constructor(clusters: Readonly<Record<Letter, RingCluster>>) {
    this.#clusters = clusters;
  }

  async mark(): Promise<void> {
    const counts = letters.map(async (letter) => [letter, (await this.#clusters[letter].requests()).length] as const);
    this.#marks = new Map(await Promise.all(counts));
  }

  async costs(): Promise<Costs> {
    const lists = await Promise.all(letters.map((letter) => this.#since(letter)));
    const counted = lists.flat().filter(({ request }) => request.verb !== "watch" && request.resource !== "leases");
    const written = counted.filter(({ request }) => writes.has(request.verb));
    const isPeer = ({ request }: Counted): boolean => request.resource === "peers";
    return {
      peerWrites: written.filter(isPeer).map(textOf),
      otherWrites: written.filter((entry) => !isPeer(entry)).map(textOf),
      requests: counted.map(textOf),
    };
  }

  /** What was refused to operators at any time, marks or not, each once, as `cluster verb resource`. */
  async refusals(): Promise<string[]> {
    const lists = letters.map(async (letter) =>
      (await this.#clusters[letter].requests())
        .filter(({ code, isStarting }) => code === 403 && !isStarting)
        .map((request) => textOf({ letter, request: { ...request, name: "", code: 0 } })),
    );
    return [...new Set((await Promise.all(lists)).flat())];
  }

  async #since(letter: Letter): Promise<Counted[]> {
    const requests = await this.#clusters[letter].requests();
    return requests.slice(this.#marks.get(letter) ?? 0).map((request) => ({ letter, request }));
  }
}

interface Counted {
  readonly letter: Letter;
  readonly request: StoryRequest;
}

function textOf({ letter, request }: Counted): string {
  const { verb, resource, subresource, name, code } = request;
  const what = subresource ? `${resource}/${subresource}` : resource;
  return [letter, verb, what, name, code >= 400 ? code : ""].filter((part) => part !== "").join(" ");
}

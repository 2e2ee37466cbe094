import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** One family of series. A counter or gauge `atScrape` is read from the program's state whenever somebody asks. */
export type MetricSpec =
  | {
      readonly type: "counter";
      readonly help: string;
      readonly labels: readonly string[];
      readonly atScrape?: true;
    }
  | { readonly type: "gauge"; readonly help: string; readonly labels: readonly string[]; readonly atScrape: true }
  | {
      readonly type: "histogram";
      readonly help: string;
      readonly labels: readonly string[];
      readonly buckets: readonly number[];
    };

/** Every metric of a program, by its name. */
export type MetricTable = Readonly<Record<string, MetricSpec>>;

type Labels<Table extends MetricTable, Name extends keyof Table> = Readonly<
  Record<Table[Name]["labels"][number], string>
>;
type NameOf<Table extends MetricTable, Type extends MetricSpec["type"]> = {
  [Name in keyof Table]: Table[Name] extends { readonly type: Type } ? Name : never;
}[keyof Table] &
  string;

type Series = Readonly<Record<string, string>>;
type Family = Counter | Gauge | Histogram;

export interface MetricsOptions {
  /** Adds what Node tells of the process itself. */
  readonly ofProcess?: boolean;
}

/** The series of one table, in a registry of their own. */
export class Metrics<Table extends MetricTable> {
  readonly #table: Table;
  readonly #registry = new Registry();
  readonly #families = new Map<string, Family>();
  /** Which series each family that is counted has. */
  readonly #counted = new Map<string, Map<string, Series>>();
  #scrape: Promise<string> | undefined;

  constructor(table: Table, { ofProcess = false }: MetricsOptions = {}) {
    this.#table = table;
    for (const [name, spec] of Object.entries(table))
      this.#families.set(name, createFamily(name, spec, this.#registry));
    if (ofProcess) collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Adds to a counter or gauge; a series begins at 0, and 0 begins one. */
  add<Name extends NameOf<Table, "counter" | "gauge">>(name: Name, labels: Labels<Table, Name>, amount = 1): void {
    const family = this.#families.get(name);
    if (!(family instanceof Counter || family instanceof Gauge)) throw new Error(`${name} cannot be added to`);
    this.#remember(name, labels);
    family.inc(labels, amount);
  }

  observe<Name extends NameOf<Table, "histogram">>(name: Name, labels: Labels<Table, Name>, value: number): void {
    const family = this.#families.get(name);
    if (!(family instanceof Histogram)) throw new Error(`${name} is no histogram`);
    this.#remember(name, labels);
    family.observe(labels, value);
  }

  /** Ends the counted series that the test says are over: what a series stood for is gone. */
  forget(isOver: (labels: Series) => boolean): void {
    for (const [name, known] of this.#counted) {
      for (const [key, labels] of known) {
        if (!isOver(labels)) continue;
        known.delete(key);
        this.#families.get(name)?.remove(labels);
      }
    }
  }

  /** Everything as text for Prometheus. `fill` adds what is read at a scrape; scrapes at the same time share one. */
  text(fill: () => void): Promise<string> {
    this.#scrape ??= this.#read(fill).finally(() => {
      this.#scrape = undefined;
    });
    return this.#scrape;
  }

  async #read(fill: () => void): Promise<string> {
    for (const [name, spec] of Object.entries(this.#table)) if (isAtScrape(spec)) this.#families.get(name)?.reset();
    fill();
    return this.#registry.metrics();
  }

  #remember(name: string, labels: Series): void {
    const spec = this.#table[name];
    if (!spec || isAtScrape(spec)) return;
    const known = this.#counted.get(name) ?? new Map<string, Series>();
    this.#counted.set(name, known);
    known.set(spec.labels.map((label) => labels[label]).join("\n"), labels);
  }
}

const isAtScrape = (spec: MetricSpec): boolean => "atScrape" in spec;

function createFamily(name: string, spec: MetricSpec, registry: Registry): Family {
  const shared = { name, help: spec.help, labelNames: spec.labels, registers: [registry] };
  if (spec.type === "counter") return new Counter(shared);
  if (spec.type === "gauge") return new Gauge(shared);
  return new Histogram({ ...shared, buckets: [...spec.buckets] });
}

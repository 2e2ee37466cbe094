/** One series of Prometheus' text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What `/metrics` says, strictly read: a line that is none of the format's throws. */
export interface Exposition {
  /** The type of each family, by its name. */
  readonly types: ReadonlyMap<string, string>;
  readonly helps: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
  /** The samples of one name whose labels include these. */
  of(name: string, labels?: Readonly<Record<string, string>>): Sample[];
  /** The value of the only such sample. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

export function parseExposition(text: string): Exposition {
  const types = new Map<string, string>();
  const helps = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split("\n").filter((row) => row !== "")) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line);
    if (comment) (comment[1] === "TYPE" ? types : helps).set(comment[2] ?? "", comment[3] ?? "");
    else samples.push(sampleOf(line));
  }
  const of: Exposition["of"] = (name, labels = {}) =>
    samples.filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
  const value: Exposition["value"] = (name, labels) => {
    const [only, ...more] = of(name, labels);
    if (!only || more.length > 0)
      throw new Error(`${name} ${JSON.stringify(labels ?? {})}: ${more.length + (only ? 1 : 0)} series`);
    return only.value;
  };
  return { types, helps, samples, of, value };
}

function sampleOf(line: string): Sample {
  const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  const [, name = "", inside = "", number = ""] = found ?? [];
  const value = number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number);
  if (!found || (Number.isNaN(value) && number !== "Nan")) throw new Error(`not a sample: ${line}`);
  return { name, labels: labelsOf(inside, line), value };
}

function labelsOf(inside: string, line: string): Record<string, string> {
  const pattern = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;
  const labels: Record<string, string> = {};
  let end = 0;
  for (const match of inside.matchAll(pattern)) {
    labels[match[1] ?? ""] = (match[2] ?? "").replace(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char));
    end = match.index + match[0].length;
  }
  if (end !== inside.length) throw new Error(`labels that do not parse: ${line}`);
  return labels;
}

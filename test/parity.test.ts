import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** A line of the Go operator's tests or of what peer discovery asks for, or a weakness of either reference. */
interface Item {
  readonly id: string;
  readonly text: string;
}

interface NamedTest {
  readonly file: string;
  readonly title: string;
}

/** A row of docs/parity.md. */
interface Row extends Item {
  readonly state: string;
  readonly tests: readonly NamedTest[];
  /** What it says beside the tests that it names. */
  readonly reason: string;
}

const load = (name: string): Item[] => JSON.parse(readFileSync(`test/fixtures/parity/${name}.json`, "utf8")) as Item[];

const checklist = load("checklist");
const weaknesses = load("weaknesses");
const discovery = load("discovery");

const link = /\[([^\]]+)\]\(\.\.\/([^)]+)\)/g;

/** The rows of all tables of a page. */
function rowsOf(page: string): Row[] {
  return page.split("\n").flatMap((line): Row[] => {
    const [, id = "", text = "", state = "", said = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    if (!/^[a-z-]+-\d+[a-z]?$/.test(id)) return [];
    const tests = [...said.matchAll(link)].map(([, title = "", file = ""]) => ({ file, title }));
    return [{ id, text: unescaped(text), state, tests, reason: said.replace(link, "").replace(/[\s,]+$/, "") }];
  });
}

const unescaped = (text: string): string => text.replaceAll("\\|", "|");

/** Everything that is wrong with the rows, in words. `titlesIn` is undefined for a file that holds no tests. */
function faultsOf(
  items: readonly Item[],
  rows: readonly Row[],
  titlesIn: (file: string) => ReadonlySet<string> | undefined,
): string[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const known = new Map(items.map(({ id, text }) => [id, text]));
  const missing = items.filter(({ id }) => !byId.has(id)).map(({ id, text }) => `${id}: no row for "${text}"`);
  const doubled = rows.filter((row) => byId.get(row.id) !== row).map(({ id }) => `${id}: two rows`);
  const strange = rows
    .filter(({ id, text }) => known.get(id) !== text)
    .map(({ id }) => `${id}: not what the fixture says`);
  const wrong = rows.flatMap((row) =>
    [...stateFaults(row), ...titleFaults(row, titlesIn)].map((why) => `${row.id}: ${why}`),
  );
  return [...missing, ...doubled, ...strange, ...wrong];
}

function stateFaults({ state, tests, reason }: Row): string[] {
  if (state === "tested") return tests.length > 0 ? [] : ["tested, but by no test"];
  if (state !== "differs" && state !== "open") return [`"${state}" is no state`];
  const unexplained = reason === "" ? [`${state}, but does not say why`] : [];
  return state === "open" && tests.length > 0 ? [...unexplained, "open, but names a test"] : unexplained;
}

function titleFaults({ tests }: Row, titlesIn: (file: string) => ReadonlySet<string> | undefined): string[] {
  return tests
    .filter(({ file, title }) => !titlesIn(file)?.has(title))
    .map(({ file, title }) => `${file} has no test "${title}"`);
}

/** Tests, stories and cases of the contract; one that is skipped shows nothing. */
const titled = /(?:(?:(?<![\w.])(?:it|test|story)(?:\.concurrent)?|\))\(|title:)\s*(["`])((?:\\.|(?!\1).)*)\1/g;

function titlesIn(file: string): ReadonlySet<string> | undefined {
  if (!/^(src|test|e2e)\/.*(\.test|-stories|-cases)\.ts$/.test(file) || !existsSync(file)) return undefined;
  const source = readFileSync(file, "utf8");
  return new Set([...source.matchAll(titled)].flatMap(([, , title]) => title ?? []));
}

/** Each file is read once. */
function remembered(read: typeof titlesIn): typeof titlesIn {
  const found = new Map<string, ReadonlySet<string> | undefined>();
  return (file) => {
    if (!found.has(file)) found.set(file, read(file));
    return found.get(file);
  };
}

describe("docs/parity.md", () => {
  const rows = rowsOf(readFileSync("docs/parity.md", "utf8"));

  it("has one row for every line of the reference, and every test that it names exists", () => {
    expect(faultsOf([...checklist, ...weaknesses, ...discovery], rows, remembered(titlesIn))).toEqual([]);
  });

  it("says how far it is", () => {
    const counts = (some: readonly Row[]): string => {
      const of = (state: string): number => some.filter((row) => row.state === state).length;
      return `${some.length} lines, ${of("tested")} tested, ${of("differs")} differ, ${of("open")} open`;
    };
    const open = rows.filter(({ state }) => state === "open").map(({ id, text }) => `open: ${id} ${text}`);
    const [ofDiscovery, ofOperator] = [true, false].map((isDiscovery) =>
      rows.filter(({ id }) => isDiscovery === discovery.some((item) => item.id === id)),
    );
    console.log(
      [`parity: ${counts(ofOperator ?? [])}`, `peer discovery: ${counts(ofDiscovery ?? [])}`, ...open].join("\n"),
    );
    expect(rows.filter(({ state }) => !["tested", "differs", "open"].includes(state))).toEqual([]);
  });

  it("has all 32 weaknesses, and every list of the reference", () => {
    const numbers = weaknesses.flatMap(({ id }) => /^weakness-(\d+)/.exec(id)?.[1] ?? []);
    expect([...new Set(numbers.map(Number))]).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
    expect(new Set(checklist.map(({ id }) => id.replace(/-\d+[a-z]?$/, ""))).size).toBe(27);
    const ids = [...checklist, ...weaknesses, ...discovery].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("has every gap, acceptance, constraint and weakness of peer discovery", () => {
    const named = new Set(discovery.flatMap(({ text }) => /^[GACWextra0-9, ]+(?=:)/.exec(text)?.[0].split(", ") ?? []));
    const upTo = (letter: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
    const expected = [...upTo("G", 11), ...upTo("A", 5), ...upTo("C", 4), ...upTo("W", 9), "extra"];
    expect([...named].sort()).toEqual(expected.sort());
  });
});

describe("this test", () => {
  const items = [{ id: "line-1", text: "a | b" }];
  const here = "test/parity.test.ts";
  const own = `[says how far it is](../${here})`;

  it.each<[string, string, string[]]>([
    ["a good row", `| line-1 | a \\| b | tested | ${own} |`, []],
    ["a missing row", "| other | table | x | y |", ['line-1: no row for "a | b"']],
    ["two rows", `| line-1 | a \\| b | tested | ${own} |\n| line-1 | a \\| b | differs | so |`, ["line-1: two rows"]],
    [
      "a row of nothing",
      `| line-1 | a \\| b | differs | so |\n| line-2 | c | differs | so |`,
      ["line-2: not what the fixture says"],
    ],
    ["another text", "| line-1 | a | differs | so |", ["line-1: not what the fixture says"]],
    [
      "a made-up title",
      `| line-1 | a \\| b | tested | [nobody wrote this](../${here}) |`,
      [`line-1: ${here} has no test "nobody wrote this"`],
    ],
    [
      "a file without tests",
      `| line-1 | a \\| b | tested | [x](../src/core/plan.ts) |`,
      ['line-1: src/core/plan.ts has no test "x"'],
    ],
    ["no test", "| line-1 | a \\| b | tested | surely |", ["line-1: tested, but by no test"]],
    ["no reason", `| line-1 | a \\| b | differs | ${own} |`, ["line-1: differs, but does not say why"]],
    ["an open row with a test", `| line-1 | a \\| b | open | soon ${own} |`, ["line-1: open, but names a test"]],
    ["another state", "| line-1 | a \\| b | done | x |", ['line-1: "done" is no state']],
  ])("reports %s", (_, page, expected) => {
    expect(faultsOf(items, rowsOf(page), titlesIn)).toEqual(expected);
  });

  it("knows tests, tables, stories and cases by their titles, and not those that are skipped", () => {
    const found = [
      ["src/core/cidr.test.ts", "%s is read as %s"],
      ["test/stories/mesh-stories.ts", "a mesh is created"],
      ["test/contract/mesh-cases.ts", "the definition of ClusterMesh is accepted, and what is stored conforms to it"],
    ].filter(([file = "", title = ""]) => titlesIn(file)?.has(title));
    expect(found).toHaveLength(3);
    expect('it.skip("a", () => {}); it.todo("b"); expect("c")'.match(titled)).toBeNull();
  });
});

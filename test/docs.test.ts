import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { clusterMeshPage } from "../scripts/reference-page.ts";
import { program } from "../src/cli/main.ts";

const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", ...markdownIn("docs")];

function markdownIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => join(folder, path));
}

describe("the documents", () => {
  it.each(pages)("%s links only to files that exist", (page) => {
    const links = [...readFileSync(page, "utf8").matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].flatMap(
      (match) => match[1] ?? [],
    );
    const broken = links.filter((link) => !/^https?:/.test(link) && !existsSync(join(dirname(page), link)));
    expect(broken).toEqual([]);
  });

  it("name every file of the walk as it is", () => {
    const text = readFileSync("ARCHITECTURE.md", "utf8");
    const paths = [...text.matchAll(/`((?:kube|api|registry|core|runtime|operator)\/[a-z0-9-]+\.ts)`/g)].flatMap(
      (match) => match[1] ?? [],
    );
    expect(paths.length).toBeGreaterThan(15);
    expect(paths.filter((path) => !existsSync(join("src", path)))).toEqual([]);
  });

  it("have the reference page that the schema makes (npm run docs)", () => {
    expect(readFileSync("docs/reference/cluster-mesh.md", "utf8")).toBe(clusterMeshPage());
  });

  it("describe every command and flag", () => {
    const text = readFileSync("docs/reference/cli.md", "utf8");
    const missing = program().commands.flatMap((command) => [
      ...(text.includes(`## ${command.name()}\n`) ? [] : [command.name()]),
      ...command.options
        .filter(({ long }) => long && !text.includes(long))
        .map(({ long }) => `${command.name()} ${long}`),
    ]);
    expect(missing).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { Metrics, type MetricTable } from "./metrics.ts";

const table = {
  written_total: { type: "counter", help: "Writes.", labels: ["cluster", "outcome"] },
  size: { type: "gauge", help: "Size.", labels: ["cluster"], atScrape: true },
  took_seconds: { type: "histogram", help: "Time.", labels: ["cluster"], buckets: [0.1, 1] },
} as const satisfies MetricTable;

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

describe("metrics", () => {
  it("are exposed with their help, type and values", async () => {
    const metrics = new Metrics(table);
    metrics.add("written_total", { cluster: "a", outcome: "ok" });
    metrics.add("written_total", { cluster: "a", outcome: "ok" }, 2);
    metrics.observe("took_seconds", { cluster: "a" }, 0.5);
    const text = await metrics.text(() => metrics.add("size", { cluster: "a" }, 7));
    expect(text).toContain("# HELP written_total Writes.\n# TYPE written_total counter\n");
    expect(linesOf(text)).toEqual([
      'written_total{cluster="a",outcome="ok"} 3',
      'size{cluster="a"} 7',
      'took_seconds_bucket{le="0.1",cluster="a"} 0',
      'took_seconds_bucket{le="1",cluster="a"} 1',
      'took_seconds_bucket{le="+Inf",cluster="a"} 1',
      'took_seconds_sum{cluster="a"} 0.5',
      'took_seconds_count{cluster="a"} 1',
    ]);
  });

  it("that are read at a scrape hold nothing of the scrape before", async () => {
    const metrics = new Metrics(table);
    await metrics.text(() => metrics.add("size", { cluster: "gone" }, 7));
    const text = await metrics.text(() => metrics.add("size", { cluster: "here" }, 0));
    expect(linesOf(text)).toEqual(['size{cluster="here"} 0']);
  });

  it("of what is gone end, the others go on", async () => {
    const metrics = new Metrics(table);
    for (const cluster of ["a", "b"]) {
      metrics.add("written_total", { cluster, outcome: "ok" });
      metrics.observe("took_seconds", { cluster }, 2);
    }
    metrics.forget(({ cluster }) => cluster === "a");
    const text = await metrics.text(() => undefined);
    expect(text).not.toContain('cluster="a"');
    expect(linesOf(text).filter((line) => line.includes('cluster="b"'))).toHaveLength(6);
  });

  it("asked for twice at once are read once", async () => {
    const metrics = new Metrics(table);
    let reads = 0;
    const fill = (): void => {
      reads++;
      metrics.add("size", { cluster: "a" }, 1);
    };
    const [first, second] = await Promise.all([metrics.text(fill), metrics.text(fill)]);
    expect([reads, first === second]).toEqual([1, true]);
    await metrics.text(fill);
    expect(reads).toBe(2);
  });

  it("keep a label's value what it is, whatever is in it", async () => {
    const metrics = new Metrics(table);
    const text = await metrics.text(() => metrics.add("size", { cluster: 'a"}\n\\x 1' }, 1));
    expect(linesOf(text)).toEqual(['size{cluster="a\\"}\\n\\\\x 1"} 1']);
  });

  it("of the process come along when they are asked for", async () => {
    const text = await new Metrics(table, { ofProcess: true }).text(() => undefined);
    expect(text).toContain("process_resident_memory_bytes");
  });
});

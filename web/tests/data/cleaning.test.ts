import { describe, expect, it } from "vitest";
import type { CatalogueEntry, Study } from "@/api/types";
import { facts, pageOf, searched } from "@/data/catalogue";
import { keepMissing, lines, lossWarning } from "@/data/cleaning";

const EMPTY: Study = {
  columns: {},
  drop: [],
  rules: [],
  dependencies: [],
  trust: {},
  machines: { throughput: false },
};

describe("cleaning", () => {
  const remark = "25 % of the rows have no cap";
  const hint = `${remark}; to keep them as the level \`none\`: --missing cap=none`;
  const rows = { count: 2, first: [], kept: false, keepable: true, remark, hint };

  it("comes in lines that can be acted on", () => {
    const told = lines({
      rows_in: 10,
      rows_out: 8,
      reasons: [
        { ...rows, reason: "cap is missing", column: "cap" },
        { ...rows, reason: "", count: 0, column: "x" },
      ],
      kept: [
        {
          reason: "t is missing",
          count: 1,
          first: [],
          kept: true,
          keepable: false,
          remark: "",
          hint: "",
        },
      ],
    });
    expect(told.map((line) => [line.count, line.keepable, line.kept])).toEqual([
      [2, true, false],
      [0, true, false],
      [1, false, true],
    ]);
    expect(told[0]?.why).toBe("cap is missing; 25 % of the rows have no cap");
    expect(told[1]?.why).toBe("25 % of the rows have no cap");
  });

  it("can keep rows without a value", () => {
    const study: Study = { ...EMPTY, columns: { a: { unit: "s" } } };
    expect(keepMissing(study, ["a", "b"]).columns).toEqual({
      a: { missing: "none", unit: "s" },
      b: { missing: "none" },
    });
  });

  it("warns only where much is lost", () => {
    expect(lossWarning({ rows_in: 1200, rows_out: 90 })).toMatch(/^1,110 of 1,200 rows/);
    expect(lossWarning({ rows_in: 1200, rows_out: 1190 })).toBeNull();
  });
});

describe("the catalogue", () => {
  const entry = (name: string, more: Partial<CatalogueEntry> = {}): CatalogueEntry => ({
    name,
    about: "GPU kernels under power caps",
    licence: "MIT",
    downloads: true,
    ...more,
  });

  it("is searched by words in any order, what can be had first", () => {
    const all = [entry("zeus", { downloads: false }), entry("amg", { about: "AMG" }), entry("b")];
    expect(searched(all, " power gpu ").map((one) => one.name)).toEqual(["b", "zeus"]);
    expect(searched(all, "")).toHaveLength(3);
  });

  it("tells what is known", () => {
    expect(facts(entry("a", { rows: 2304, bytes: 145_282 }))).toBe(
      "2,304 rows · 145 kB to download · MIT",
    );
    expect(facts(entry("a", { licence: "none stated" }))).toBe("licence: none stated");
    expect(pageOf(entry("a", { page: "javascript:alert(1)" }))).toBeNull();
    expect(pageOf(entry("a", { page: "https://arxiv.org/" }))).toBe("https://arxiv.org/");
  });
});

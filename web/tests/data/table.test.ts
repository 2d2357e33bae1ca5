import { describe, expect, it } from "vitest";
import type { ColumnReport, RuleView, Study } from "@/api/types";
import { cut, filtered, missingOf, page, pages, unsure, valuesOf } from "@/data/columns";
import { added, addRule, brokenBy, confirm, examples, removable, removeRule } from "@/data/rules";

const EMPTY: Study = {
  columns: {},
  drop: [],
  rules: [],
  dependencies: [],
  trust: {},
  machines: { throughput: false },
};

function report(name: string, more: Partial<ColumnReport> = {}): ColumnReport {
  return {
    name,
    kind: "number",
    role: "knob",
    distinct: 3,
    missing: 0,
    low: 1,
    high: 64,
    common: [],
    legal: "",
    stated: false,
    note: "",
    cells: "",
    ...more,
  };
}

describe("the list of columns", () => {
  const many = Array.from({ length: 2000 }, (_, at) => report(`Counter_${at}`));

  it("is filtered by name and role", () => {
    expect(filtered(many, EMPTY, { text: " counter_199", role: "all" })).toHaveLength(11);
    expect(filtered(many, EMPTY, { text: "", role: "outcome" })).toHaveLength(0);
    expect(
      filtered(many, { ...EMPTY, drop: ["Counter_3"] }, { text: "", role: "ignored" }),
    ).toHaveLength(1);
  });

  it("asks about guesses until somebody has said what they are", () => {
    const question = { alternatives: ["outcome" as const], chance: 0.6, reasons: [], why: "" };
    const reports = [report("a", { question }), report("b"), report("c", { question })];
    const names = (study: Study) => unsure(reports, study).map(({ name }) => name);
    expect(names(EMPTY)).toEqual(["a", "c"]);
    expect(names({ ...EMPTY, columns: { a: { role: "knob" } } })).toEqual(["c"]);
    expect(names({ ...EMPTY, columns: { a: { unit: "s" } }, drop: ["c"] })).toEqual(["a"]);
  });

  it("comes in pages, and never beyond the last", () => {
    expect(pages(2000)).toBe(80);
    expect(pages(0)).toBe(1);
    expect(page(many, 80)).toHaveLength(25);
    expect(page(many, 99)[0]?.name).toBe("Counter_1975");
    expect(page([], 3)).toEqual([]);
  });

  it("tells values in a few words", () => {
    expect(valuesOf(report("a", { unit: "s" }), 10)).toBe("1 s to 64 s");
    expect(valuesOf(report("a", { low: null, high: null }), 10)).toBe("no values");
    expect(valuesOf(report("a", { low: 2, high: 2 }), 10)).toBe("2");
    const labels: [string, number][] = [
      ["x", 5],
      ["y", 3],
      ["z", 1],
    ];
    const told = report("a", { kind: "category", common: labels, distinct: 4 });
    expect(valuesOf(told, 10)).toBe("x 50 %, y 30 %, z 10 %, 1 more");
    const numbers = report("a", { kind: "category", common: [], low: 0, high: 1 });
    expect(valuesOf(numbers, 10)).toBe("0 to 1");
  });

  it("tells what is missing", () => {
    expect(missingOf(report("a"), 10)).toBe("–");
    expect(missingOf(report("a", { missing: 1200 }), 4800)).toBe("1,200 (25 %)");
    expect(missingOf(report("a", { missing: 1 }), 1e6)).toBe("1 (< 0.1 %)");
  });

  it("cuts between signs, not inside one", () => {
    expect(cut("😀😀😀", 2)).toBe("😀…");
  });
});

describe("rules", () => {
  it("have examples made of the columns", () => {
    const labels: [string, number][] = [
      ["static", 5],
      ["guided", 3],
    ];
    const reports = [
      report("threads"),
      report("tile", { high: 256 }),
      report("schedule", { kind: "category", common: labels }),
      report("runtime", { role: "outcome" }),
    ];
    expect(examples(reports, EMPTY)).toEqual([
      "threads <= 64",
      "schedule != 'guided'",
      "schedule == 'static' -> threads >= 1",
      "threads * tile <= 16384",
    ]);
    expect(examples([], EMPTY)).toEqual([]);
  });

  const views: RuleView[] = [
    { text: "threads <= 1", broken_by: 12, source: "study" },
    { text: "tile in {16, 32}", broken_by: 0, source: "study" },
    { text: "unroll > 0", broken_by: 0, source: "dependency" },
  ];

  it("tell how many rows break them", () => {
    expect(views.map((rule) => brokenBy(rule, 100))).toEqual([
      "12 rows break it",
      "no row breaks it",
      "no row breaks it",
    ]);
    expect(brokenBy({ broken_by: 1 }, 100)).toBe("1 row breaks it");
    expect(brokenBy({ broken_by: 100 }, 100)).toBe("every row breaks it");
  });

  it("are taken out by their text, or else by their place", () => {
    const study: Study = {
      ...EMPTY,
      rules: ["threads<=1", "tile = 16 or tile = 32"],
      dependencies: ["unroll>0"],
    };
    const [first, second, third] = views as [RuleView, RuleView, RuleView];
    expect(removeRule(study, views, first).rules).toEqual(["tile = 16 or tile = 32"]);
    expect(removeRule(study, views, second).rules).toEqual(["threads<=1"]);
    expect(removeRule(study, views, third).dependencies).toEqual([]);
    expect(removable(EMPTY, views, first)).toBe(false);
  });

  it("are added once", () => {
    expect(addRule(addRule(EMPTY, "a > 1"), "a > 1").rules).toEqual(["a > 1"]);
    expect(confirm(EMPTY, "a > 1").dependencies).toEqual(["a > 1"]);
    expect(added(views.slice(0, 1), views)?.text).toBe("tile in {16, 32}");
    expect(added(views, views)).toBeNull();
  });
});

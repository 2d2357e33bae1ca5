import { describe, expect, it } from "vitest";
import type { OutcomeOverview } from "@/api/types";
import { against } from "@/overview/gain";
import { records, runsOf, some } from "@/overview/runs";
import { kindOf } from "@/query/draft";
import { betterIn, fromRun } from "@/query/starts";

const runtime = { name: "run time", direction: "minimize", runs: 4 } as OutcomeOverview;

const observed = {
  total: 4,
  rows: [0, 1, 2, 5],
  columns: new Map<string, (number | string | null)[]>([
    ["runtime", [10, 8, 9, null]],
    ["power", [5, 7, 9, 1]],
    ["app", ["ft", "ft", "ft", "cg"]],
    ["size", [100, 103, 200, 100]],
  ]),
};
const least = { name: "runtime", to: "minimize" } as const;

describe("past runs to draw", () => {
  it("have a front of two outcomes, without those that were not measured", () => {
    const x = { name: "power", to: "minimize" } as const;
    const found = runsOf(observed, { x, y: least, context: {} });
    expect(found.rows).toEqual([0, 1, 2]);
    expect(found.best.map((at) => found.rows[at])).toEqual([0, 1]);
  });

  it("are told in their order with each that was better than all before", () => {
    const found = runsOf(observed, { x: null, y: least, context: {} });
    expect([...found.points]).toEqual([0, 10, 1, 8, 2, 9]);
    expect(found.best).toEqual([0, 1]);
    expect(records([1, 3, 2, 3, 4], "maximize")).toEqual([0, 1, 4]);
  });

  it("are only those of a context, whose numbers may differ a little", () => {
    const found = runsOf(observed, { x: null, y: least, context: { app: "ft", size: 100 } });
    expect(found.rows).toEqual([0, 1]);
  });

  it("keep the first and the last of many", () => {
    const all = Array.from({ length: 100 }, (_, at) => at);
    expect(some(all, 5)).toEqual([0, 25, 50, 74, 99]);
    expect(some([1, 2], 5)).toEqual([1, 2]);
  });
});

describe("questions that begin at a run", () => {
  it("are reconfigurations of all knobs, or a what-if", () => {
    const change = fromRun("reconfigure", 7, runtime);
    expect(kindOf(change)).toBe("reconfigure");
    expect(change.baseline).toEqual({ kind: "row", row: 7 });
    expect(change.goals?.["run time"]).toMatchObject({ kind: "change", direction: "reduce" });
    expect(kindOf(fromRun("what-if", 7, runtime))).toBe("what-if");
  });

  it("ask for the other way where more is better, and for a label where there is one", () => {
    const more = fromRun("reconfigure", 1, { ...runtime, direction: "maximize" });
    expect(more.goals?.["run time"]).toMatchObject({ direction: "increase" });
    const labels = [{ label: "OK", runs: 3 }];
    const state = { name: "state", runs: 3, labels, contexts: [], more_contexts: 0 };
    expect(fromRun("reconfigure", 1, state).goals?.state).toEqual({ kind: "is", value: "OK" });
  });

  it("stay in the context, in the query language", () => {
    const draft = betterIn({ "my app": "o'k", size: 4, cap: null }, runtime);
    expect(draft.where).toEqual(["`my app` == 'o\\'k'", "size == 4", "cap == none"]);
    expect(kindOf(draft)).toBe("recommend");
  });
});

describe("a gain", () => {
  it("is told in percent, and as a factor where it is large", () => {
    expect(against(50, 100, "median")).toBe("50 % less than the median");
    expect(against(120, 100, "median")).toBe("20 % more than the median");
    expect(against(710, 100, "median")).toBe("7.1 times the median");
    expect(against(99.9, 100, "median")).toBe("less than 1 % less than the median");
    expect(against(0, 100, "median")).toBeNull();
  });
});

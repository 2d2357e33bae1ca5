import { describe, expect, test } from "vitest";
import type { Draft, Goal } from "@/api/types";
import { describeBaseline, describeEdit, describeGoal, describeRule } from "@/query/describe";
import { EMPTY } from "@/query/draft";
import { keyOf, MOST, type Part, sentence } from "@/query/sentence";
import { space } from "./table";

/** The sentence as one line. */
const spoken = (parts: Part[]) =>
  parts
    .filter((part) => part.as !== "add")
    .map((part) => part.text)
    .join(" ")
    .replaceAll(" ,", ",");
const say = (draft: Partial<Draft>) => spoken(sentence({ ...EMPTY, ...draft }, space));

describe("a draft as a sentence", () => {
  test("nothing said", () => expect(say({})).toBe("I would like to what would you like to know?"));

  test("recommend", () =>
    expect(
      say({
        kind: "recommend",
        ask: ["threads", 'my "flags"'],
        goals: { "run time": { kind: "extreme", direction: "minimize" } },
        where: ["kernel == 'spmv'", "size == 24576"],
        count: 3,
      }),
    ).toBe(
      'Recommend threads my "flags" to minimize run time where kernel is spmv size = 24,576 KiB – 3 suggestions',
    ));

  test("a chance that was said", () =>
    expect(
      say({
        kind: "recommend",
        ask: ["threads"],
        goals: { "run time": { kind: "within", high: 2 } },
        options: { beyond: false, chance: 0.95 },
      }),
    ).toMatch(/, meeting goals with a chance of 95 %$/));

  test("what is missing is asked for", () => {
    const gaps = sentence({ ...EMPTY, kind: "reconfigure" }, space).filter((p) => p.as === "gap");
    expect(gaps.map((gap) => gap.text)).toEqual([
      "which run?",
      "which parameters?",
      "which outcome?",
    ]);
  });

  test("reconfigure", () =>
    expect(
      say({
        kind: "reconfigure",
        everything: true,
        keep: ["threads"],
        goals: { "run time": { kind: "change", direction: "reduce", by: 0.1, relative: true } },
        baseline: { kind: "row", row: 17 },
      }),
    ).toBe(
      "Reconfigure starting from run 17 by changing every knob keeping threads to reduce run time by 10 %",
    ));

  test("what if", () => {
    const change = { threads: { kind: "set" as const, value: 2 } };
    expect(say({ kind: "what-if", change })).toBe(
      "What if threads becomes 2 in all past runs, what happens to every outcome",
    );
    expect(
      say({ change, goals: { gflops: { kind: "observe" } }, baseline: { kind: "row", row: 0 } }),
    ).toBe("What if threads becomes 2 in run 0, what happens to gflops");
  });

  test("long lists fold, and unfold", () => {
    const ask = Array.from({ length: 60 }, (_, i) => `p${i}`);
    const draft: Draft = { ...EMPTY, kind: "recommend", ask };
    const chips = (all: boolean) =>
      sentence(draft, space, all).filter((p) => p.as === "chip" && p.spot.part === "ask").length;
    expect(chips(false)).toBe(MOST);
    expect(chips(true)).toBe(60);
    expect(spoken(sentence(draft, space))).toContain("48 more");
  });

  test("each part has a key of its own", () => {
    const parts = sentence({ ...EMPTY, kind: "what-if", where: ["a <= 1", "b <= 2"] }, space);
    expect(new Set(parts.map(keyOf)).size).toBe(parts.length);
  });
});

describe("parts in words", () => {
  test.each<[Goal, string]>([
    [{ kind: "extreme", direction: "maximize" }, "maximize run time"],
    [{ kind: "within", low: null, high: 5 }, "run time at most 5 s"],
    [{ kind: "within", low: 300, high: null, unit: "ms" }, "run time at least 300 ms"],
    [{ kind: "within", low: 1, high: 2 }, "run time between 1 and 2 s"],
    [{ kind: "change", direction: "increase", by: 3, relative: false }, "increase run time by 3 s"],
    [
      { kind: "change", direction: "reduce", by: 0.125, relative: true },
      "reduce run time by 12.5 %",
    ],
    [{ kind: "reach", value: 4 }, "bring run time to 4 s"],
    [{ kind: "same", tolerance: null }, "keep run time the same"],
    [{ kind: "same", tolerance: 0.05 }, "keep run time within 5 %"],
    [{ kind: "same", tolerance: null, beyond: "less" }, "run time no more than now"],
    [{ kind: "same", tolerance: 0.05, beyond: "less" }, "run time no more than 5 % above now"],
    [{ kind: "same", tolerance: 0.05, beyond: "more" }, "run time no less than 5 % below now"],
    [{ kind: "is", value: "<b>" }, "run time is <b>"],
    [{ kind: "observe" }, "run time"],
  ])("goal %#", (goal, text) => expect(describeGoal("run time", goal, space)).toBe(text));

  test("changes", () => {
    expect(describeEdit("size", { kind: "set", value: 8 }, space)).toBe("size becomes 8 KiB");
    expect(describeEdit("threads", { kind: "times", factor: 2 }, space)).toBe("threads doubles");
    expect(describeEdit("threads", { kind: "times", factor: 0.5 }, space)).toBe(
      "threads becomes 0.5 × as much",
    );
    expect(describeEdit("threads", { kind: "plus", amount: -4 }, space)).toBe("threads falls by 4");
  });

  test.each([
    ["kernel == 'spmv'", "kernel is spmv"],
    ["kernel != 'spmv'", "kernel is not spmv"],
    ["kernel in {'spmv', 'triad'}", "kernel is spmv or triad"],
    ["size <= 3", "size ≤ 3 KiB"],
    ["size <= 3 MiB", "size ≤ 3 MiB"],
    ["threads >= 1 and threads <= 4", "threads from 1 to 4"],
    ["threads * size <= 8", "threads * size <= 8"],
    ["`run time` < 2", "run time < 2 s"],
  ])("rule %s", (text, said) => expect(describeRule(text, space)).toBe(said));

  test("starting runs", () => {
    expect(describeBaseline({ kind: "row", row: 3 })).toBe("run 3");
    const config = { a: 1, b: null, c: true, d: "x" };
    expect(describeBaseline({ kind: "given", config })).toBe("a = 1, b = none, c = yes and 1 more");
  });
});

import { describe, expect, it } from "vitest";
import { asked, meeting, safer, sureness, verdict } from "@/answer/goals";
import type { Goal } from "@/api/types";
import { answer, first, predicted } from "./fixtures";

const down = predicted({ value: 5, before: 10, change_percent: -50 });
const up = predicted({ value: 15, before: 10, change_percent: 50 });

describe("better or worse", () => {
  const cases: [string, Goal, "better" | "worse" | null, "better" | "worse" | null][] = [
    ["minimize", { kind: "extreme", direction: "minimize" }, "better", "worse"],
    ["maximize", { kind: "extreme", direction: "maximize" }, "worse", "better"],
    ["reduce", { kind: "change", direction: "reduce", by: 0.1, relative: true }, "better", "worse"],
    ["at most", { kind: "within", high: 8 }, "better", "worse"],
    ["at least", { kind: "within", low: 8 }, "worse", "better"],
    ["a range that 10 is in", { kind: "within", low: 8, high: 12 }, "worse", "worse"],
    ["reach less", { kind: "reach", value: 4 }, "better", "worse"],
    ["reach more", { kind: "reach", value: 40 }, "worse", "better"],
    ["same", { kind: "same" }, null, null],
    ["no more", { kind: "same", beyond: "less" }, "better", "worse"],
    ["no less", { kind: "same", beyond: "more" }, "worse", "better"],
    ["observe", { kind: "observe" }, null, null],
  ];
  it.each(cases)("%s", (_, goal, less, more) => {
    expect(verdict(goal, down)).toBe(less);
    expect(verdict(goal, up)).toBe(more);
  });

  it("says nothing without a goal, without a start, or of next to no change", () => {
    const goal: Goal = { kind: "extreme", direction: "minimize" };
    expect(verdict(null, down)).toBeNull();
    expect(verdict(goal, predicted({ value: 5 }))).toBeNull();
    expect(
      verdict(goal, predicted({ value: 10, before: 10.001, change_percent: -0.01 })),
    ).toBeNull();
  });

  it("judges classes by the class that was wanted", () => {
    const goal: Goal = { kind: "is", value: "ok" };
    expect(verdict(goal, predicted({ value: "ok", before: "failed" }))).toBe("better");
    expect(verdict(goal, predicted({ value: "failed", before: "ok" }))).toBe("worse");
    expect(verdict(goal, predicted({ value: "ok", before: "ok" }))).toBeNull();
  });
});

describe("goals that are met", () => {
  it("takes the least likely of several", () => {
    const both = [predicted({ meets: true, chance: 0.9 }), predicted({ meets: true, chance: 0.6 })];
    expect(meeting(both)).toEqual({ met: true, chance: 0.6, several: true });
    expect(meeting([...both, predicted({ meets: false })])?.met).toBe(false);
    expect(meeting([predicted({})])).toBeNull();
  });
  it("never says that something is certain", () => {
    expect(sureness(1)).toBe("> 99 % sure");
    expect(sureness(0.83)).toBe("83 % sure");
    expect(sureness(0)).toBe("< 1 % sure");
  });
  it("claims no more than a bound for several goals together", () => {
    expect(sureness(0.9, true)).toBe("at most 90 % sure");
    expect(sureness(1, true)).toBe("each > 99 % sure");
  });
  it("finds a trusted suggestion beside one that is not", () => {
    const given = answer("reconfigure");
    expect(safer(given, 0)).toBe(2);
    expect(safer(given, 2)).toBeNull();
    expect(safer(answer("impossible"), 0)).toBeNull();
  });
});

it("shows the outcomes that were asked about", () => {
  const given = answer("recommend");
  const other = predicted({ name: "gflops" });
  expect(asked(given, [...first(given).outcomes, other]).map((one) => one.name)).toEqual([
    "runtime_ms",
  ]);
  expect(asked(given, [other])).toEqual([other]);
});

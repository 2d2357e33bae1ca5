import { describe, expect, it } from "vitest";
import { asked, goalLines, likely, meeting, safer, verdict } from "@/answer/goals";
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
    expect(likely(1)).toBe("> 99 % likely");
    expect(likely(0)).toBe("< 1 % likely");
  });
  it("tells the chance beside the one that was asked for", () => {
    expect(likely(0.836, 0.8)).toBe("84 % likely, 80 % asked for");
    expect(likely(0.5, 0.995)).toBe("50 % likely, 99.5 % asked for");
  });
  it("does not round a chance up to the one that was asked for", () => {
    expect(likely(0.7996, 0.8)).toBe("79.9 % likely, 80 % asked for");
  });
  it("claims of several goals what holds for each", () => {
    expect(likely(0.9, 0.8, true)).toBe("each at least 90 % likely, 80 % asked for");
    expect(likely(1, null, true)).toBe("each > 99 % likely");
  });
  it("tells each goal in numbers", () => {
    const given = { ...answer("reconfigure"), chance: 0.8 };
    const one = predicted({
      meets: true,
      chance: 0.9,
      wanted: "runtime_ms <= 3.50123",
      against: 5,
    });
    expect(goalLines(given, [{ ...one, unit: "ms" }, predicted({})])).toEqual([
      {
        name: "runtime_ms",
        goal: "runtime_ms ≤ 3.501 ms",
        against: "reduce by 30 %, measured against 5 ms of the starting run",
        met: true,
        verb: "meets",
        likely: "90 % likely, 80 % asked for",
      },
    ]);
  });
  it("does not call missed what is likely, and not likely enough", () => {
    const verbs = [0.73, 0.2, undefined].map(
      (chance) => goalLines(answer("recommend"), [predicted({ meets: false, chance })])[0]?.verb,
    );
    expect(verbs).toEqual(["may miss", "misses", "misses"]);
  });
  it("rounds only goals that were worked out from a run", () => {
    const goal = (wanted: string, against?: number) =>
      goalLines(answer("recommend"), [predicted({ meets: true, wanted, against })])[0]?.goal;
    expect(goal("t_1.5 <= 3.50123")).toBe("t_1.5 ≤ 3.50123");
    expect(goal("1.00005 <= t_12.3456 <= 1.2e-07", 2)).toBe("1 ≤ t_12.3456 ≤ 1.2e−7");
    expect(goal("state is ok")).toBe("state is ok");
  });
  it("tells what other relative goals are measured against", () => {
    const given = {
      ...answer("reconfigure"),
      query: { ...answer("reconfigure").query, goals: {} },
    };
    const [line] = goalLines(given, [predicted({ meets: false, against: 5 })]);
    expect(line).toMatchObject({
      goal: "the goal of runtime_ms",
      against: "measured against 5 of the starting run",
      likely: null,
    });
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

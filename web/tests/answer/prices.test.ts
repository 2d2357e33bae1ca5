import { describe, expect, it } from "vitest";
import { bestMeasured, together } from "@/answer/bestMeasured";
import { hasDistance, priceRows } from "@/answer/prices";
import type { Answer } from "@/api/types";
import { answer } from "./fixtures";

describe("what certainty costs", () => {
  const given: Answer = {
    ...answer("reconfigure"),
    chance: 0.8,
    prices: [
      {
        chance: 0.5,
        reached: true,
        distance: 1,
        config: {},
        settings: { flags: "O3" },
        outcomes: { runtime_ms: 1.9371 },
      },
      { chance: 0.8, reached: true, distance: 0, config: {}, settings: {}, outcomes: {} },
      { chance: 0.95, reached: false },
    ],
  };
  const rows = priceRows(given, {});
  it("tells the change, what is predicted, and the distance", () => {
    expect(rows[0]).toMatchObject({
      chance: "50 %",
      asked: false,
      change: "flags = O3",
      outcomes: "runtime_ms 1.937 ms",
      distance: "1",
    });
    expect(rows[1]?.change).toBe("nothing changes");
    expect(rows[2]).toMatchObject({ reached: false, change: "nothing that was found reaches it" });
    expect(hasDistance(rows)).toBe(true);
    expect(hasDistance([])).toBe(false);
  });
  it("asks the same with another chance", () => {
    expect(rows[0]?.instead).toEqual({ ...given.query, chance: 0.5 });
    expect(rows[1]).toMatchObject({ asked: true, instead: null });
  });
  it("is not told where there are no prices", () => {
    expect(priceRows(answer("recommend"), {})).toEqual([]);
  });
});

describe("the best measured run", () => {
  const given: Answer = {
    ...answer("recommend"),
    best_measured: {
      rows: [12],
      runs: 1,
      config: { threads: 2, tile: 32, unroll: 4 },
      settings: { threads: 2 },
      open: { tile: 32, unroll: 4 },
      outcomes: { runtime_ms: 0.864, gflops: 3 },
    },
  };
  it("is told with its settings, and what the question leaves open", () => {
    expect(bestMeasured(given, {})).toMatchObject({
      which: "Row 12",
      outcomes: "runtime_ms 0.864 ms",
      settings: "threads = 2",
      open: "tile = 32, unroll = 4",
      names: ["tile", "unroll"],
    });
  });
  it("asks for what was left open too", () => {
    expect(bestMeasured(given, {})?.wider?.ask).toEqual([...given.query.ask, "tile", "unroll"]);
    const closed = { ...given, best_measured: { ...given.best_measured, open: {} } } as Answer;
    expect(bestMeasured(closed, {})?.wider).toBeNull();
  });
  it("is the mean of several runs of one configuration", () => {
    const many = { ...given.best_measured, rows: [3, 9, 10, 11], runs: 4 };
    expect(bestMeasured({ ...given, best_measured: many } as Answer, {})?.which).toBe(
      "Rows 3, 9, 10 ... (4 runs, their mean)",
    );
    expect(bestMeasured(answer("recommend"), {})).toBeNull();
  });
  it("joins names", () => {
    expect(together(["a"])).toBe("a");
    expect(together(["a", "b", "c"])).toBe("a, b and c");
  });
});

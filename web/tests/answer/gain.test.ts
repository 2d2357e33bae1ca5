import { describe, expect, it } from "vitest";
import { certainty, gainOf } from "@/answer/gain";
import type { Answer, Suggestion } from "@/api/types";
import { answer, first, predicted } from "./fixtures";

/** A suggestion of the fixture beside a best run that had this runtime. */
function beside(runtime: number, changed: Partial<Suggestion> = {}, more: Partial<Answer> = {}) {
  const given = answer("recommend");
  const outcomes = [predicted({ value: 10, low: 8, high: 12, unit: "ms" })];
  const of = { ...first(given), outcomes, ...changed } as Suggestion;
  const config = { ...first(given).config, threads: 64 };
  const best = {
    rows: [5],
    runs: 1,
    config,
    settings: {},
    open: {},
    outcomes: { runtime_ms: runtime },
  };
  const whole = {
    ...given,
    contexts: 1,
    best_measured: best,
    suggestions: [of],
    ...more,
  } as Answer;
  return { whole, of, best };
}
const told = ({ whole, of }: ReturnType<typeof beside>) => gainOf(whole, of, {});

describe("the gain over the best run", () => {
  it("is a share, with that run and what it has otherwise", () => {
    const gain = told(beside(20));
    expect(gain?.text).toBe("runtime_ms 50 % less than in the best run you have");
    expect(gain?.run).toBe("20 ms in row 5 with threads = 64");
    expect(gain?.better).toBe(true);
    expect(gain && certainty(gain)).toBe("That run lies outside the interval.");
  });

  it("may be chance where the run lies inside the interval", () => {
    const gain = told(beside(11));
    expect(gain?.inside).toBe(true);
    expect(gain && certainty(gain)).toMatch(/may be chance/);
    expect(told(beside(9))?.better).toBe(false);
  });

  it("is none where it is that very run, or as good", () => {
    const same = beside(20);
    same.of.config = { ...same.best.config };
    expect(told(same)?.text).toBe("It is the best run you have");
    expect(told(beside(10))?.text).toBe("As good in runtime_ms as the best run you have");
  });

  it("is not told of a mean over contexts, nor without a run", () => {
    const several = told(beside(20, {}, { contexts: 3 }));
    expect(several?.better).toBeNull();
    expect(several && certainty(several)).toBeNull();
    expect(told(beside(20, {}, { best_measured: null }))).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import { classRows } from "@/answer/evidence/classes";
import { doubtWords } from "@/answer/evidence/doubts";
import { ended, moved, pairs, proofFacts, proofMark } from "@/answer/evidence/findings";
import { gauges, limits, USUAL } from "@/answer/evidence/gauges";
import { labelFacts } from "@/answer/evidence/labels";
import { answer, first, predicted } from "./fixtures";

describe("the scores as gauges", () => {
  const trust = first(answer("reconfigure")).trust;
  const of = (ood: number, uq = 0, risk = 0) => gauges({ ...trust, ood, uq, risk }, USUAL);
  it("says on which side of the thresholds they are", () => {
    expect(of(0.95).map((one) => one.standing)).toEqual(["usual", "usual", "usual"]);
    expect(of(0.96, 0.96, 1).map((one) => one.standing)).toEqual(["high", "high", "high"]);
    expect(of(0.991)[0]?.standing).toBe("very high");
  });
  it("tells them in words", () => {
    expect(of(0.104)[0]?.says).toBe("10 % of the checked runs are closer to the data.");
    expect(of(0)[0]?.says).toBe("No checked run is closer to the data.");
    expect(of(0.9512)[0]?.says).toMatch(/^95.1 %/);
  });
  it("marks only thresholds that there are", () => {
    expect(of(0).map(limits)).toEqual([
      "caution above 0.95, unsupported above 0.99",
      "caution above 0.95",
      "caution above 0.95",
    ]);
  });
  it("stays between 0 and 1", () => {
    expect(of(1.4)[0]?.value).toBe(1);
  });
});

describe("findings", () => {
  const [effect] = first(answer("reconfigure")).trust.effects;
  it("counts pairs", () => {
    expect(effect && pairs(effect)).toBe("5 pairs, 100 % of their weight as expected");
    expect(effect && pairs({ ...effect, pairs: 0, agree: null })).toBe("no pairs");
    expect(effect && pairs({ ...effect, pairs: 1, agree: null })).toBe("1 pair");
    expect(effect && pairs({ ...effect, pairs: 2, agree: null, adjusted: true })).toBe(
      "2 adjusted pairs",
    );
  });
  it("tells changes in percent where it can be", () => {
    expect(moved(-68.6, true)).toBe("−69 %");
    expect(moved(3.5, false)).toBe("+3.5");
    expect(moved(null, true)).toBe("–");
  });
  it("leaves names of columns as they are written", () => {
    expect(ended("runtime_ms is predicted 2 s")).toBe("runtime_ms is predicted 2 s.");
  });
});

it("tells of a proof only what says something", () => {
  const proof = answer("reconfigure").certificate;
  if (!proof) throw new Error("no proof");
  expect(proofFacts(proof, true)).toEqual([{ name: "Smallest distance possible", value: "1" }]);
  expect(proofFacts({ ...proof, gap: 0.25, bound: null }, true)).toEqual([
    { name: "Another answer could be better by", value: "0.25" },
  ]);
});

describe("a certificate", () => {
  const given = answer("reconfigure").certificate;
  if (!given) throw new Error("no proof");
  const optimal = { ...given, status: "optimal" as const };
  const of = (meets: boolean, meets_goals = true) => ({
    meets_goals,
    outcomes: [predicted({ meets })],
  });
  it("calls nothing optimal beside a goal that is not met with the chance", () => {
    expect(proofMark(optimal, of(true))?.label).toBe("trusted");
    expect(proofMark(optimal, of(false))).toBeNull();
    expect(proofMark(optimal, of(true, false))).toBeNull();
    expect(proofMark({ ...given, status: "best found" }, of(false))?.label).toBe("caution");
  });
  it("says which goals it is about, how near counts, and whether runs do", () => {
    const proof = { ...optimal, bound: null, goals: ["t <= 2"], chance: 0.8, tolerance: 0.01 };
    expect(proofFacts({ ...proof, measured: true }, true)).toEqual([
      { name: "Predicted goals, for a chance of 80 %", value: "t ≤ 2" },
      { name: "Counts as the best", value: "within 1 % of it" },
      { name: "Measured runs", value: "count" },
    ]);
  });
});

describe("doubts", () => {
  it("are told with what was found", () => {
    const said = doubtWords({
      code: "effect never observed",
      columns: ["nodes"],
      outcome: "runtime",
      value: 1,
      limit: 3,
    });
    expect(said).toBe("The effect was never observed: nodes for runtime (1 comparable, 3 needed).");
    expect(doubtWords({ code: "goal chance", columns: [], value: 0.57, limit: 0.8 })).toBe(
      "The goal is not likely enough (57 % likely, 80 % asked for).",
    );
    expect(doubtWords({ code: "uncertain", columns: [], value: 0.97, limit: 0.95 })).toBe(
      "The models do not agree (score 0.97, limit 0.95).",
    );
  });
  it("name the runs behind them", () => {
    const runs = ["row 7: runtime: timeout"];
    expect(doubtWords({ code: "similar runs failed", columns: [], value: 0.6, runs })).toBe(
      "Similar runs failed (60 % likely to fail; row 7: runtime: timeout).",
    );
    expect(doubtWords({ code: "never run together", columns: ["a", "b"], value: 0.9 })).toBe(
      "Values that no past run had together: a, b (90 % likely that it cannot be run).",
    );
  });
  it.each(["goal missed", "no skill", "beyond this context", "measured otherwise"] as const)(
    "have words for %s",
    (code) => expect(doubtWords({ code, columns: [] })).toMatch(/^[A-Z].*\.$/),
  );
  it("of a newer server are told by their code", () => {
    expect(doubtWords({ code: "something new" as "no skill", columns: [] })).toBe("something new.");
  });
});

it("the label stands beside the published one", () => {
  const { trust } = first(answer("reconfigure"));
  const told = labelFacts({
    ...trust,
    label: "caution",
    published: "trusted",
    ood: 0.2,
    uq: 0.31,
    measured: 2,
  });
  expect(told[0]).toMatch(/^Here: caution, /);
  expect(told[1]).toBe(
    "Algorithm 1 as published: trusted, by novelty (OOD) 0.20 and uncertainty (UQ) 0.31 alone.",
  );
  expect(told[2]).toBe("This very configuration was run: 2 past runs.");
  expect(labelFacts({ ...trust, published: null, measured: 0 })).toHaveLength(2);
});

it("classes are told with their probabilities, the likeliest first", () => {
  const one = predicted({
    value: "ok",
    scores: { failed: 0.1, ok: 0.9 },
    scores_before: { ok: 0.4 },
  });
  expect(classRows(one)).toEqual([
    { label: "ok", now: "90 %", before: "40 %" },
    { label: "failed", now: "10 %", before: null },
  ]);
  expect(classRows(predicted({}))).toEqual([]);
});

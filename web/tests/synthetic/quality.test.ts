import { describe, expect, it } from "vitest";
import type { Measure } from "@/api/types";
import { beside, questions, summary, verdict } from "@/synthetic/quality";

const measure = (name: string, value: number, floor: number | null, better = "less"): Measure => ({
  name,
  value,
  floor,
  better,
  meaning: "what it says",
});

describe("a measure beside real against real", () => {
  it("is like, somewhat or clearly apart, by what it measures", () => {
    const said = (...of: Parameters<typeof measure>) => verdict(measure(...of));
    expect([0.52, 0.6, 0.9].map((value) => said("two-sample AUC", value, 0.5))).toEqual([
      "like",
      "somewhat",
      "apart",
    ]);
    // Halves of few rows may be told apart by chance less than 0.5.
    expect(said("two-sample AUC", 0.52, 0.3)).toBe("like");
    expect([0.95, 0.88, 0.5].map((v) => said("SDQuality (shared-bin)", v, 0.96, "more"))).toEqual([
      "like",
      "somewhat",
      "apart",
    ]);
    expect([0.1, 0.25, 0.6].map((value) => said("mean KL", value, 0.1))).toEqual([
      "like",
      "somewhat",
      "apart",
    ]);
    // exp(0.2) against exp(0.15): a third more, not 1.22 against 1.16.
    expect(said("dissimilarity", Math.exp(0.2), Math.exp(0.15))).toBe("like");
    expect(said("dissimilarity", Math.exp(0.9), Math.exp(0.15))).toBe("apart");
    expect(said("dissimilarity", 1, 1)).toBe("like");
  });

  it("is a copy where it is much closer to learnt rows than new real ones are", () => {
    const said = (value: number, floor: number) =>
      verdict(measure("closest record, median", value, floor, "near"));
    expect([said(1, 1), said(0.3, 1), said(0.1, 1), said(0, 0)]).toEqual([
      "like",
      "somewhat",
      "apart",
      "like",
    ]);
    expect(verdict(measure("exact copies", 0.4, 0.02, "near"))).toBe("apart");
    expect(verdict(measure("exact copies", 0, 0.5, "near"))).toBe("like");
  });

  it("says nothing without a floor", () => {
    expect(verdict(measure("mean KL", 0.1, null))).toBeNull();
    expect(verdict(measure("mean KL", Number.NaN, 0.1))).toBeNull();
  });
});

describe("a report in words", () => {
  const measures = [
    measure("two-sample AUC", 0.52, 0.5),
    measure("SDQuality (shared-bin)", 0.95, 0.96, "more"),
    measure("dissimilarity", Math.exp(0.9), Math.exp(0.15)),
    measure("exact copies", 0.35, 0, "near"),
  ];

  it("answers what people ask by the worst of the measures that tell it", () => {
    expect(questions({ measures })).toEqual([
      {
        question: "Can a program tell them from real rows?",
        verdict: "like",
        answer: "as like as other real rows",
        told: "two-sample AUC 0.52, real rows among themselves 0.5",
      },
      {
        question: "Do columns go together as they really do?",
        verdict: "apart",
        answer: "clearly apart",
        told: "dissimilarity 2.46, real rows among themselves 1.16",
      },
      {
        question: "Are they more than copies of real rows?",
        verdict: "apart",
        answer: "often copies",
        told: "exact copies 35 %, real rows among themselves 0 %",
      },
    ]);
    expect(beside(measure("mean KL", 0.1, null))).toBe("mean KL 0.1, real rows among themselves –");
  });

  it("is summed up without making it better than it is", () => {
    const of = (...verdicts: ("like" | "somewhat" | "apart")[]) =>
      summary(verdicts.map((verdict) => ({ question: "", verdict, answer: "", told: "" })));
    expect(of("like", "apart", "somewhat")).toBe(
      "In 1 of 3 respects as like real rows as other real rows are, in 1 clearly apart.",
    );
    expect(of("like", "somewhat")).toMatch(/in no respect clearly apart\.$/);
    expect(of("like")).toMatch(/^In every respect/);
    expect(of()).toMatch(/^Nothing/);
  });
});

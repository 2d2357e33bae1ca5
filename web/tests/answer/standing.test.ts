import { describe, expect, it } from "vitest";
import { aboutSuggestions, whyNone } from "@/answer/standing";
import type { Answer, Certificate } from "@/api/types";
import { answer, first } from "./fixtures";

const proof = (given: Partial<Certificate>): Certificate => ({
  status: "no proof",
  reason: "",
  blocking: [],
  nearest: {},
  left_out: [],
  cut: false,
  ...given,
});
const with_ = (name: Parameters<typeof answer>[0], more: Partial<Answer>): Answer => ({
  ...answer(name),
  ...more,
});
const none = (no_answer: string, certificate: Certificate | null = null) =>
  with_("recommend", { suggestions: [], no_answer, certificate });

describe("why there is no answer", () => {
  it("is that it cannot be reached, only where that is proved or all was tried", () => {
    expect(whyNone(answer("impossible"))).toMatch(/cannot be reached/);
    const tried = "No legal configuration meets the goal under this model; closest: t 3.";
    const found = "No configuration that was found meets the goal under this model; closest: t 3.";
    expect(whyNone(with_("impossible", { certificate: null, no_answer: tried }))).toMatch(
      /cannot be reached/,
    );
    for (const status of ["best found", "no proof"] as const)
      expect(
        whyNone(with_("impossible", { certificate: proof({ status }), no_answer: found })),
      ).toBe("Nothing was found that reaches what you ask for.");
  });
  it("is that no configuration obeys the rules, only where that is proved or all was tried", () => {
    const impossible = "No configuration obeys all the rules.";
    const open = "No configuration was found that obeys all the rules.";
    expect(
      whyNone(none("Every combination was tried, and no legal configuration obeys all rules.")),
    ).toBe(impossible);
    const search = "The search found no legal configuration that obeys all rules.";
    expect(whyNone(none(search))).toBe(open);
    expect(whyNone(none(search, proof({ cut: true })))).toBe(open);
    const blocking = ["nodes > 4", "nodes < 2"];
    expect(whyNone(none("x", proof({ status: "infeasible", blocking })))).toBe(impossible);
  });
  it("is not blamed on the rules where a goal is among what cannot hold together", () => {
    const blocking = ["nodes > 4", "runtime_ms <= 0.1"];
    expect(whyNone(none("x", proof({ status: "infeasible", blocking })))).toMatch(
      /cannot be reached/,
    );
  });
  it("is about past runs where a change is made to these", () => {
    const nothing = "No past run matches the question and can make this change.";
    const more = { population: null, no_answer: nothing, baseline: null };
    expect(whyNone(with_("population", more))).toBe(
      "There is no past run that this change could be made to.",
    );
    const outside = "After the change all of these runs lie outside the past runs.";
    expect(whyNone(with_("population", { no_answer: outside }))).toMatch(/say too little/);
  });
  it("is too little evidence where the goal would be met", () => {
    const given = answer("recommend");
    const met = { ...first(given), meets_goals: true };
    expect(whyNone({ ...given, suggestions: [met], no_answer: "x" })).toMatch(/say too little/);
  });
});

describe("the list of suggestions", () => {
  const about = (certificate: Certificate | null) =>
    aboutSuggestions(with_("recommend", { certificate }));
  it("calls the first one the best only where that is proved", () => {
    expect(about(proof({ status: "optimal", gap: 0 }))).toMatch(/^The first is the best under/);
    for (const other of [
      null,
      proof({ status: "best found", gap: 0.2 }),
      proof({ status: "no proof" }),
      // All goals are met and nothing better was asked for: nothing was compared.
      proof({ status: "optimal", gap: null }),
    ])
      expect(about(other)).toMatch(/^The first is the best that was found\./);
  });
  it("says so where the goal is missed, and of a single one only what brackets mean", () => {
    const brackets = "In brackets is where 90 % of new runs lie.";
    expect(aboutSuggestions(answer("impossible"))).toBe(`They do not meet the goal. ${brackets}`);
    const given = answer("recommend");
    const one = first(given);
    expect(aboutSuggestions({ ...given, suggestions: [one] })).toBe(brackets);
    const outcomes = one.outcomes.map((of) => ({ ...of, low: null, high: null }));
    expect(aboutSuggestions({ ...given, suggestions: [{ ...one, outcomes }] })).toBeUndefined();
  });
});

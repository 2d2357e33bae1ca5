import { describe, expect, it } from "vitest";
import { aboutSuggestions, whyNone } from "@/answer/standing";
import type { Answer, Certificate, Label } from "@/api/types";
import { answer, first, idea } from "./fixtures";

const proof = (given: Partial<Certificate>): Certificate => ({
  status: "no proof",
  reason: "",
  blocking: [],
  nearest: {},
  left_out: [],
  goals: [],
  measured: false,
  cut: false,
  ...given,
});
const with_ = (name: Parameters<typeof answer>[0], more: Partial<Answer>): Answer => ({
  ...answer(name),
  ...more,
});
const none = (more: Partial<Answer>) =>
  with_("recommend", { suggestions: [], ideas: [], no_answer: "x", certificate: null, ...more });

describe("why there is no answer", () => {
  it("is that it cannot be reached, only where that is proved or all was tried", () => {
    expect(whyNone(answer("impossible"))).toMatch(/cannot be reached/);
    const tried = with_("impossible", { certificate: null, exhausted: true });
    expect(whyNone(tried)).toMatch(/cannot be reached/);
    for (const status of ["best found", "no proof"] as const)
      expect(
        whyNone(with_("impossible", { certificate: proof({ status }), exhausted: false })),
      ).toBe("Nothing was found that reaches what you ask for.");
  });
  it("is that no configuration obeys the rules, only where that is proved or all was tried", () => {
    const impossible = "No configuration obeys all the rules.";
    const open = "No configuration was found that obeys all the rules.";
    expect(whyNone(none({ exhausted: true }))).toBe(impossible);
    expect(whyNone(none({ exhausted: false }))).toBe(open);
    expect(whyNone(none({ exhausted: false, certificate: proof({ cut: true }) }))).toBe(open);
    const certificate = proof({ status: "infeasible", blocking: ["nodes > 4", "nodes < 2"] });
    expect(whyNone(none({ exhausted: true, certificate }))).toBe(impossible);
  });
  it("is not blamed on the rules where a goal is among what cannot hold together", () => {
    const blocking = ["nodes > 4", "runtime_ms <= 0.1"];
    const blocking_goals = { "runtime_ms <= 0.1": "runtime_ms" };
    const certificate = proof({ status: "infeasible", blocking, blocking_goals });
    expect(whyNone(none({ exhausted: true, certificate }))).toMatch(/cannot be reached/);
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
    const abstains = { ...given, suggestions: [], ideas: [met], no_answer: "x" };
    expect(whyNone(abstains)).toMatch(/say too little/);
  });
  it("is the chance where the goal is likely and not likely enough", () => {
    const given = answer("abstained");
    expect(whyNone(given)).toMatch(/cannot be reached, going by past runs/);
    const outcomes = idea(given).outcomes.map((one) => ({ ...one, chance: 0.57 }));
    const near = { ...given, ideas: [{ ...idea(given), outcomes }] };
    expect(whyNone(near)).toMatch(/cannot be reached with the chance you ask for/);
    expect(whyNone({ ...near, exhausted: false })).toMatch(/^Nothing was found .* with the chance/);
  });
});

describe("the list of suggestions", () => {
  const labelled = (label: Label) => {
    const one = first(answer("recommend"));
    return { ...one, trust: { ...one.trust, label } };
  };
  const about = (certificate: Certificate | null, ...labels: Label[]) =>
    aboutSuggestions(with_("recommend", { certificate, suggestions: labels.map(labelled) }));
  it("calls the first one the best only where that is proved", () => {
    const proved = proof({ status: "optimal", gap: 0 });
    expect(about(proved, "trusted", "caution")).toMatch(/^The first is the best under/);
    for (const other of [
      null,
      proof({ status: "best found", gap: 0.2 }),
      proof({ status: "no proof" }),
      // All goals are met and nothing better was asked for: nothing was compared.
      proof({ status: "optimal", gap: null }),
    ])
      expect(about(other, "caution", "caution")).toMatch(/^The first is the best that was found\./);
  });
  it("says that the better label comes first where labels differ", () => {
    expect(about(null, "trusted", "caution")).toMatch(/^The better label comes first/);
  });
  it("says of a single one only what brackets mean", () => {
    const brackets = "In brackets is where 90 % of new runs lie.";
    const given = answer("recommend");
    const one = first(given);
    expect(aboutSuggestions({ ...given, suggestions: [one] })).toBe(brackets);
    const outcomes = one.outcomes.map((of) => ({ ...of, low: null, high: null }));
    expect(aboutSuggestions({ ...given, suggestions: [{ ...one, outcomes }] })).toBeUndefined();
  });
});

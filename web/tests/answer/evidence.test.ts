import { describe, expect, it } from "vitest";
import { ended, moved, pairs, proofFacts } from "@/answer/evidence/findings";
import { gauges, limits, USUAL } from "@/answer/evidence/gauges";
import { answer, first } from "./fixtures";

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

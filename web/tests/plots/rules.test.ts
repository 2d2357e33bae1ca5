import { describe, expect, it } from "vitest";
import type { Answer, Parameter } from "@/api/types";
import { conditions, matches, pinsOf } from "@/plots/matching";
import { rounded, rulesOf } from "@/plots/parallel/rules";
import { movedPlaces, typedParts } from "@/plots/parallel/typed";
import { stepsOf } from "@/plots/steps";

const number = (more: Partial<Extract<Parameter, { kind: "number" }>> = {}): Parameter => ({
  kind: "number",
  name: "threads",
  role: "knob",
  low: 1,
  high: 64,
  optional: false,
  ...more,
});
const axis = (parameter: Parameter) => ({
  parameter,
  steps: stepsOf(parameter),
  range: parameter.kind === "number" ? { low: parameter.low, high: parameter.high } : null,
});

describe("ranges as rules", () => {
  const few = axis(number({ allowed: [1, 2, 4, 8, 16] }));
  it("names the legal values inside", () => {
    expect(rulesOf(few, [[0.6, 2.9]])).toEqual(["threads >= 2", "threads <= 4"]);
    expect(rulesOf(few, [[1.8, 2.2]])).toEqual(["threads == 4"]);
    expect(rulesOf(few, [[2.2, 2.8]])).toEqual([]);
  });
  it("leaves out ends that bound nothing", () => {
    expect(rulesOf(few, [[-0.5, 2.4]])).toEqual(["threads <= 4"]);
    expect(rulesOf(few, [[1.5, 4.5]])).toEqual(["threads >= 4"]);
    expect(rulesOf(few, [[-0.5, 4.5]])).toEqual([]);
    expect(rulesOf(few, [])).toEqual([]);
  });
  it("rounds free numbers as finely as the part is wide", () => {
    const free = axis(number({ name: "freq", low: 1.2, high: 3.6 }));
    const wide = axis(number({ low: 245.2, high: 6_654_946 }));
    expect(rulesOf(wide, [[800_000, 6_654_946]])).toEqual([`${wide.parameter.name} >= 800000`]);
    expect(rulesOf(free, [[1.512345, 2.123456]])).toEqual(["freq >= 1.512", "freq <= 2.123"]);
    expect(rulesOf(axis(number({ low: -5e-6, high: 5e-6 })), [[-1.23456e-6, 2e-6]])).toEqual([
      "threads >= -0.00000123",
      "threads <= 0.000002",
    ]);
    expect(rounded(0, 1)).toBe(0);
  });
  it("keeps whole numbers whole", () => {
    const whole = axis(number({ step: 1, low: 0, high: 1000 }));
    expect(rulesOf(whole, [[99.4, 200.7]])).toEqual(["threads >= 100", "threads <= 200"]);
  });
  it("lists labels, quoted as the language has it", () => {
    const labels = axis({
      kind: "category",
      name: "build type",
      role: "knob",
      values: ["O'2", "a\\b", true, null],
    });
    expect(rulesOf(labels, [[0.6, 1.4]])).toEqual(["`build type` == 'a\\\\b'"]);
    expect(
      rulesOf(labels, [
        [-0.4, 0.4],
        [1.6, 3.4],
      ]),
    ).toEqual(["`build type` in {'O\\'2', true, none}"]);
    expect(rulesOf(labels, [[-0.5, 3.5]])).toEqual([]);
  });
});

describe("runs that match", () => {
  const none = { query: { where: [] }, suggestions: [] } as unknown as Answer;
  const asking = (...rules: string[]): Answer => ({
    ...none,
    query: { ...none.query, where: rules.map((text) => ({ text })) as Answer["query"]["where"] },
  });
  it("are told by plain rules", () => {
    const found = conditions(
      asking("kernel == 'a and b' and tile >= 16", "x in {'p', 'q, r', 3}", "y not in {1}"),
      new Set(["kernel", "tile", "x", "y"]),
    );
    expect(found.unread).toEqual([]);
    expect(found.pins.map((one) => one.column)).toEqual(["kernel", "tile", "x", "y"]);
    const columns = new Map([
      ["kernel", ["a and b", "a and b", "c", "a and b", "a and b"]],
      ["tile", [16, 8, 16, null, 1e20]],
      ["x", ["q, r", 3, 3, 3, 3]],
      ["y", [2, 2, 2, 2, 1]],
    ]);
    expect([...matches(found.pins, columns, 5)]).toEqual([1, 0, 0, 0, 0]);
  });
  it.each([
    "a == 1 or b == 2",
    "c == 3 and a == 1 or b == 2",
    "c == 3 and (a == 1 or b == 2)",
    "c == 3 -> a == 1 and b == 2",
    "not (a == 1 and b == 2)",
    "gpus <= 4 * nodes",
    "a == 'x' -> b >= 1",
    "not a == 1",
    "a <= b",
    "a <= 3 ms",
  ])("are not told by a rule that says more, and that is said: %s", (rule) => {
    expect(pinsOf(rule)).toBeNull();
    const known = new Set(["a", "b", "c", "gpus", "nodes"]);
    const found = conditions(asking(rule, "b == 2"), known);
    expect(found.unread).toEqual([rule]);
    expect(found.pins.map((one) => one.text)).toEqual(["b == 2"]);
  });
  it("have columns that are known, and are as the starting run", () => {
    const started = {
      ...asking("gone == 1"),
      baseline: { kernel: "x", size: 3 },
      comparable: { columns: ["kernel", "input"], identifiable: true, reason: "" },
    } as unknown as Answer;
    const found = conditions(started, new Set(["kernel", "size"]));
    expect(found.unread).toEqual(["gone == 1"]);
    expect(found.pins.map((one) => one.column)).toEqual(["kernel"]);
    expect([...matches(found.pins, new Map([["kernel", ["x", "y"]]]), 2)]).toEqual([1, 0]);
  });
  it("are none where a column did not come", () => {
    const { pins } = conditions(asking("a == 1", "b == 1"), new Set(["a", "b"]));
    expect([...matches(pins, new Map([["a", [1, 1]]]), 2)]).toEqual([0, 0]);
  });
});

describe("typed ranges", () => {
  const range = { low: 10, high: 1000 };
  it("have a number at both ends, or the end of the axis", () => {
    expect(typedParts(100, 800, range)).toEqual([[100, 800]]);
    expect(typedParts("100.", "8e2", range)).toEqual([[100, 800]]);
    expect(typedParts("", 800, range)).toEqual([[10, 800]]);
    expect(typedParts(10, "", range)).toEqual([]);
    expect(typedParts(5, 2000, range)).toEqual([]);
    expect(typedParts(100, 100, range)).toEqual([[100, 100]]);
  });
  it("are none where the ends are the wrong way round, or no numbers", () => {
    expect(typedParts(100, 70, range)).toBeNull();
    expect(typedParts(100, "-", range)).toBeNull();
  });
  it("take the other end along where a step passes it", () => {
    expect(movedPlaces([1, 3], "from", 4)).toEqual([4, 4]);
    expect(movedPlaces([1, 3], "to", 0)).toEqual([0, 0]);
    expect(movedPlaces([1, 3], "to", 2)).toEqual([1, 2]);
  });
});

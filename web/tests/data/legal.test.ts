import { describe, expect, it } from "vitest";
import { legalOf, legalText } from "@/data/legal";

const nothing = { low: null, high: null, step: null, allowed: null, values: null };

describe("legal values as text", () => {
  it.each([
    [{ allowed: [1, 2, 4] }, "1, 2, 4"],
    [{ low: 0, high: 0.5, step: 0.1 }, "0..0.5:0.1"],
    [{ low: 1, high: 64 }, "1..64"],
    [{ values: ["a", 2, true] }, "a, 2, true"],
    [{}, ""],
  ])("tells %o as a text that means the same", (said, text) => {
    const told = { ...nothing, ...said };
    expect(legalText(told)).toBe(text);
    expect(legalOf(text, told.values ? "category" : "number", told.values ?? [])).toEqual(told);
  });

  it("leaves labels alone that a list cannot hold", () => {
    for (const label of ["a, b", " a", "", null])
      expect(legalText({ ...nothing, values: ["x", label] })).toBeNull();
  });

  it.each([
    ["4,8, 16", "number", { allowed: [4, 8, 16] }],
    ["16, 4,4,", "number", { allowed: [4, 16] }],
    ["1..64", "number", { low: 1, high: 64 }],
    ["1..64:1", "number", { low: 1, high: 64, step: 1 }],
    [" -1.5 .. 2e3 : 0.5 ", "number", { low: -1.5, high: 2000, step: 0.5 }],
    ["static, dynamic,static", "category", { values: ["static", "dynamic"] }],
    ["a..b", "category", { values: ["a..b"] }],
    ["  ", "number", {}],
  ] as const)("reads %s", (text, kind, said) => {
    expect(legalOf(text, kind)).toEqual({ ...nothing, ...said });
  });

  it.each([
    ["few", /“few” is no number/],
    ["1..", /no number/],
    ["1..2..3", /low\.\.high/],
    ["1..2:3:4", /low\.\.high/],
    ["9..2", /9 is above 2/],
    ["1..9:0", /above 0/],
    ["1..Infinity", /no number/],
  ])("refuses %s", (text, why) => {
    expect(() => legalOf(text, "number")).toThrow(why);
  });
});

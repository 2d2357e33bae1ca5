import { describe, expect, test } from "vitest";
import { EMPTY, withRules } from "@/query/draft";
import { picked } from "@/query/rules";

describe("what a rule picks of a column", () => {
  test.each([
    ["a <= 3", "a"],
    ["a in {'x', 'y'}", "a"],
    ["a >= 1 and a <= 8", "a"],
    ["a != 3", null],
    ["a not in {1, 2}", null],
    ["a * 2 <= 3", null],
    ["a >= 1 and b <= 8", null],
    ["a == 1 or a == 2", null],
  ])("%s: %s", (text, column) => {
    expect(picked(text)).toBe(column);
  });

  test("a part that is marked replaces what was picked of the same column, and nothing else", () => {
    const where = ["a == 3", "b >= 2 and b <= 8", "a != 7", "a * b <= 64", "c < 2"];
    const marked = withRules({ ...EMPTY, where }, ["a >= 2", "a <= 4", "b <= 4"]);
    expect(marked.where).toEqual(["a != 7", "a * b <= 64", "c < 2", "a >= 2", "a <= 4", "b <= 4"]);
    expect(withRules(marked, ["a <= 3"]).where).toEqual([
      "a != 7",
      "a * b <= 64",
      "c < 2",
      "b <= 4",
      "a <= 3",
    ]);
  });
});

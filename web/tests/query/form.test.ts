import { describe, expect, test } from "vitest";
import { toldParts, withPart } from "@/query/edit/incomplete";
import { readNumber, shownNumber, unitOfField } from "@/query/edit/typed";
import { changeLacks, goalLacks, turnedOf, wishOf, withAim } from "@/query/shapes";

describe("numbers that are typed", () => {
  test("are none at every moment, and stay as they were typed", () => {
    const steps = ["-", "-0", "-0.", "-0.5"];
    expect(steps.map(readNumber)).toEqual([null, 0, 0, -0.5]);
    expect(Object.is(readNumber("-0"), 0)).toBe(true);
    expect(steps.map((typed) => shownNumber(typed, readNumber(typed)))).toEqual(steps);
  });

  test("are shown as the value when nobody types", () => {
    expect(shownNumber(null, -0.5)).toBe(-0.5);
    expect(shownNumber(null, null)).toBe("");
    expect(shownNumber("", 3)).toBe(""); // just emptied
    expect(readNumber(" ")).toBeNull();
    expect(readNumber("123456789012345")).toBe(123456789012345);
  });
});

test("a value stands beside the unit that it is told in", () => {
  expect(unitOfField("MiB", "KiB")).toEqual({ unit: "MiB", own: false });
  expect(unitOfField("", "KiB")).toEqual({ unit: "KiB", own: true });
  expect(unitOfField("KiB", "KiB")).toEqual({ unit: "KiB", own: true });
  expect(unitOfField(null, null)).toEqual({ unit: "", own: true });
});

describe("what a form lacks", () => {
  const least = wishOf({ kind: "extreme", direction: "minimize" });

  test("a goal without its numbers", () => {
    expect(goalLacks("y", least)).toBeNull();
    const most = withAim(least, "at most");
    expect(goalLacks("y", most)).toBe("“y at most” has no value");
    expect(goalLacks("y", { ...most, first: 3 })).toBeNull();
    const between = { ...withAim(least, "between"), first: 3 };
    expect(goalLacks("y", between)).toBe("“y between” has no value");
    expect(goalLacks("y", { ...between, second: 1 })).toBe("“y between” begins above its end");
    expect(goalLacks("y", { ...withAim(least, "reduce by"), first: 0 })).toBe(
      "“y reduce by” needs a value above 0",
    );
  });

  test("a change without its value", () => {
    const set = turnedOf({ kind: "set", value: 2 });
    expect(changeLacks("a", set)).toBeNull();
    expect(changeLacks("a", { ...set, way: "times" })).toBe("the change of “a” has no value");
  });

  test("is told in one line", () => {
    const one = withPart(new Map(), "1", "“y at most” has no value");
    const two = withPart(one, "2", "the new rule is not added");
    expect(toldParts([...one.values()])).toBe("This is not asked yet: “y at most” has no value.");
    expect(toldParts([...two.values()])).toContain("(and 1 more)");
    expect(toldParts([...withPart(one, "1", null).values()])).toBe("");
  });
});

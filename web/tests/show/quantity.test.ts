import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { estimate, quantity, setting } from "@/show/quantity";
import { value } from "@/show/values";

/** The same table holds the Python package to the same rules. */
const TABLE = JSON.parse(
  readFileSync(new URL("../../../tests/domain/quantities.json", import.meta.url), "utf-8"),
) as {
  quantities: {
    value: number | string | null;
    unit: string | null;
    quantity: string;
    setting: string;
  }[];
  estimates: {
    value: number;
    low: number;
    high: number;
    unit: string | null;
    text: string;
    ends: string[];
  }[];
};

/** The page writes a minus sign where a terminal has a hyphen. */
const plain = (text: string) => text.replaceAll("−", "-");

describe("numbers read as the package writes them", () => {
  test.each(TABLE.quantities)("$value $unit", ({ value: given, unit, ...told }) => {
    const number = typeof given === "number";
    expect(plain(number ? quantity(given, unit) : value(given))).toBe(told.quantity);
    expect(plain(number ? setting(given, unit) : value(given))).toBe(told.setting);
  });

  test.each(TABLE.estimates)("$value in [$low, $high] $unit", ({ value: given, ...one }) => {
    const told = estimate(given, one.low, one.high, one.unit);
    expect(plain(told.text)).toBe(one.text);
    expect(told.ends?.map(plain)).toEqual(one.ends);
  });
});

import { describe, expect, test } from "vitest";
import {
  about,
  amount,
  bytes,
  change,
  count,
  exact,
  number,
  share,
  typed,
  value,
  withInterval,
  withUnit,
} from "@/show/values";

describe("numbers", () => {
  test.each([
    [0, "0"],
    [-0.5, "−0.5"],
    [1.31190662, "1.312"],
    [0.000466, "0.000466"],
    [0.00001234, "1.23e−5"],
    [24576, "24,576"],
    [1234, "1234"],
    [98304.25, "98,304"],
    [123456789.5, "123,456,790"],
    [1e15, "1e15"],
    [Number.POSITIVE_INFINITY, "∞"],
    [Number.NaN, "–"],
    [99.999, "100"],
    [1000.4, "1000"],
  ])("%d is written %s", (given, told) => {
    expect(number(given)).toBe(told);
  });

  test("four digits are never off by more than half of the last one", () => {
    for (let exponent = -4; exponent < 7; exponent += 0.037) {
      const given = 10 ** exponent;
      const told = Number(number(given).replaceAll(",", "").replace("−", "-"));
      expect(Math.abs(told - given) / given).toBeLessThanOrEqual(0.0006);
    }
  });
});

test("other values", () => {
  expect(value(null)).toBe("none");
  expect(value(true)).toBe("yes");
  expect(value("<b>")).toBe("<b>");
  expect(withUnit(3, "s")).toBe("3 s");
  expect(withUnit(3, null)).toBe("3");
  expect(change(-12.34)).toBe("−12 %");
  expect(change(3.44)).toBe("+3.4 %");
  expect(share(0.9)).toBe("90 %");
  expect(share(0.9995)).toBe("100 %");
  expect(withInterval(3, { low: 1, high: null }, "s")).toEqual({ text: "3 s", ends: null });
  expect(withInterval(1.312, { low: 0.94396, high: 1.8232 }, "ms")).toEqual({
    text: "1.31 ms",
    ends: ["0.94", "1.82"],
  });
  expect(bytes(512)).toBe("512 B");
  expect(bytes(1_234_567)).toBe("1.2 MB");
  expect(count(1, "row")).toBe("1 row");
  expect(count(30_000, "row")).toBe("30,000 rows");
});

test("what people typed or will set is not rounded off, what is predicted is", () => {
  expect([1234.56, 20480.5, 0.123456, 0.1 + 0.2, -2.5e-7].map(exact)).toEqual([
    "1234.56",
    "20,480.5",
    "0.123456",
    "0.3",
    "−2.5e−7",
  ]);
  expect(withUnit(2401.5, "MHz")).toBe("2401.5 MHz");
  expect(withUnit(2400, "MHz")).toBe("2.4 GHz");
  expect(typed(2400, "MHz")).toBe("2400 MHz");
  expect(about(2401.54, "ms")).toBe("2.402 s");
  expect(about("static")).toBe("static");
});

test("reads infinite numbers, which travel as words", () => {
  expect(amount("Infinity")).toBe(Number.POSITIVE_INFINITY);
  expect(amount("-Infinity")).toBe(Number.NEGATIVE_INFINITY);
  expect(amount("static")).toBeNull();
  expect(amount(true)).toBeNull();
});

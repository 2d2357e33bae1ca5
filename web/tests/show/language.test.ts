import { describe, expect, test } from "vitest";
import { formatName, formatValue, obeys, readRule, type Simple, writeRule } from "@/show/language";

describe("names and values of the language", () => {
  test.each([
    ["threads", "threads"],
    ["größe", "größe"],
    ["a.b", "a.b"],
    ["wall time", "`wall time`"],
    ["in", "`in`"],
    ["Where", "`Where`"],
    ["2fast", "`2fast`"],
    ["a`b", "`a``b`"],
    ["<script>", "`<script>`"],
  ])("%s", (name, text) => expect(formatName(name)).toBe(text));

  test.each([
    [null, "none"],
    [true, "true"],
    [2.5, "2.5"],
    ["it's", "'it\\'s'"],
    ["a\\b", "'a\\\\b'"],
  ])("%s", (value, text) => expect(formatValue(value)).toBe(text));
});

describe("simple rules", () => {
  test.each<[string, Simple]>([
    ["kernel == 'spmv'", { name: "kernel", how: "==", values: ["spmv"], unit: "" }],
    ["size = 3", { name: "size", how: "==", values: [3], unit: "" }],
    ["`wall time` <= 1.5e3 ms", { name: "wall time", how: "<=", values: [1500], unit: "ms" }],
    ['`a``b` != "x, y"', { name: "a`b", how: "!=", values: ["x, y"], unit: "" }],
    ["x > -4", { name: "x", how: ">", values: [-4], unit: "" }],
    ["gpu == true", { name: "gpu", how: "==", values: [true], unit: "" }],
    ["limit == none", { name: "limit", how: "==", values: [null], unit: "" }],
    ["s in {'a', 'b}', 3}", { name: "s", how: "in", values: ["a", "b}", 3], unit: "" }],
    ["s not in {'it\\'s'}", { name: "s", how: "not in", values: ["it's"], unit: "" }],
  ])("%s", (text, rule) => {
    expect(readRule(text)).toEqual(rule);
    expect(readRule(writeRule(rule))).toEqual(rule);
  });

  test.each([
    "",
    "a <= b",
    "a <= nonempty",
    "threads * unroll <= 8",
    "a >= 1 and a <= 3",
    "schedule == 'dynamic' -> chunk >= 4",
    "not a == 1",
    "a == 'x' or b == 2",
  ])("no simple rule: %s", (text) => expect(readRule(text)).toBeNull());

  test("whether a value obeys", () => {
    const rule = (text: string) => readRule(text) as Simple;
    expect(obeys(3, rule("a <= 3"))).toBe(true);
    expect(obeys(null, rule("a <= 3"))).toBe(false);
    expect(obeys("x", rule("a in {'x'}"))).toBe(true);
    expect(obeys("x", rule("a not in {'x'}"))).toBe(false);
    expect(obeys(undefined, rule("a != 3"))).toBe(false);
  });
});

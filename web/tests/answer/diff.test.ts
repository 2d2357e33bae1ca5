import { describe, expect, it } from "vitest";
import { changes, kept, start, varying } from "@/answer/diff";
import { fileName } from "@/answer/save";
import { answer, first } from "./fixtures";

describe("what a suggestion changes", () => {
  const given = answer("reconfigure");
  it("tells old and new, and what forced it", () => {
    expect(changes(first(given))).toEqual([
      { name: "flags", old: "O2", new: "O3", unit: null, forced: null, by: null },
    ]);
    const edits = [
      { name: "nodes", old: 4, new: 8, forced_by: "nodes >= 8", for_goal: false },
      { name: "tile", old: 128, new: 16, for_goal: false },
      { name: "chunk", old: 2, new: 3, for_goal: false },
    ];
    const found = changes({ ...first(given), edits });
    expect(found.map((one) => one.by)).toEqual(["× 2", "÷ 8", null]);
    expect(found[0]?.forced).toBe("nodes >= 8");
  });
  it("tells what stays", () => {
    const names = kept(given, first(given), { size_kib: "KiB" });
    expect(names).toHaveLength(8);
    expect(names.find((one) => one.name === "size_kib")?.unit).toBe("KiB");
  });
  it("leaves out the settings of a recommendation", () => {
    const other = answer("recommend");
    expect(kept(other, first(other), {}).map((one) => one.name)).toEqual([
      "kernel",
      "size_kib",
      "precision",
      "tile",
      "unroll",
    ]);
  });
  it("names the starting run", () => {
    expect(start(given)).toBe("row 53");
    expect(start(answer("recommend"))).toBeNull();
  });
});

it("finds the columns in which runs differ", () => {
  expect(
    varying([
      { a: 1, b: 2 },
      { a: 1, b: 3 },
    ]),
  ).toEqual(["b"]);
  expect(varying([{ a: 1, b: 2 }])).toEqual(["a", "b"]);
  expect(varying([])).toEqual([]);
});

it("names files so that every system takes them", () => {
  expect(fileName("1dc0324a25ade6f4", "sh")).toBe("compass-1dc0324a.sh");
  expect(fileName("../../etc", "csv", "runs")).toBe("compass-etc-runs.csv");
});

import { describe, expect, it } from "vitest";
import {
  columns,
  compare,
  isWide,
  key,
  pressed,
  sharedSettings,
  sorted,
  title,
  width,
} from "@/answer/table/columns";
import type { Answer } from "@/api/types";
import { answer, first } from "./fixtures";

describe("the columns of the table", () => {
  it("shows what was asked for, the outcomes of the goals, and trust", () => {
    const given = answer("recommend");
    const alone = { ...given, suggestions: given.suggestions.slice(0, 1) };
    expect(columns(alone).map(title)).toEqual([
      "Rank",
      "threads",
      "schedule",
      "chunk",
      "flags",
      "runtime_ms (ms)",
      "Trust",
    ]);
  });
  it("tells once what all suggestions have alike", () => {
    const given = answer("recommend");
    const one = first(given);
    const other = { ...one, config: { ...one.config, threads: 8 } };
    const both = { ...given, suggestions: [one, other] };
    expect(columns(both).map(title)).toEqual(["Rank", "threads", "runtime_ms (ms)", "Trust"]);
    expect(sharedSettings(both)).toEqual({ schedule: "static", chunk: 4, flags: "O1" });
    expect(sharedSettings({ ...both, suggestions: [one] })).toEqual({});
    expect(isWide(both)).toBe(false);
  });
  it("needs more room than there is for many columns", () => {
    const given = answer("recommend");
    const one = first(given);
    const names = Array.from({ length: 12 }, (_, at) => `a knob ${at}`);
    const with_ = (by: number) => {
      const settings = Object.fromEntries(names.map((name, at) => [name, at + by]));
      return { ...one, settings, config: { ...one.config, ...settings } };
    };
    expect(isWide({ ...given, suggestions: [with_(0), with_(1)] })).toBe(true);
  });
  it("adds distance and goal where they say something", () => {
    const found = columns(answer("reconfigure")).map(key);
    expect(found).toContain("distance");
    expect(found).toContain("meets");
    expect(columns(answer("population"))).toEqual([]);
  });
  it("shows what a rule forced to move though nobody asked for it", () => {
    const given = answer("recommend");
    const one = first(given);
    const forced = { name: "tile", old: 16, new: 32, forced_by: "tile >= 32" };
    const more = { ...given, suggestions: [{ ...one, edits: [forced] }] } as Answer;
    expect(columns(more).map(key)).toContain("setting:tile");
  });
  it("keeps columns narrow, whatever stands in them", () => {
    const given = answer("recommend");
    const long = { ...first(given).config, schedule: "x".repeat(60) };
    const wide = { ...given, suggestions: [{ ...first(given), config: long }] };
    const column = columns(wide).find((one) => key(one) === "setting:schedule");
    expect(column && width(column, wide)).toBe(28);
  });
});

describe("the order", () => {
  const given = answer("reconfigure");
  const by = (column: string, down = false) =>
    sorted(given, columns(given), { by: column, down }).map((at) => at + 1);
  it("goes by value, and by rank where that is equal", () => {
    expect(by("rank")).toEqual([1, 2, 3]);
    expect(by("outcome:runtime_ms")).toEqual([2, 3, 1]);
    expect(by("outcome:runtime_ms", true)).toEqual([1, 3, 2]);
    expect(by("setting:threads")).toEqual([1, 2, 3]);
    expect(by("trust")).toEqual([3, 1, 2]);
    expect(by("unknown")).toEqual([1, 2, 3]);
  });
  it("compares numbers by size, labels by alphabet, and puts nothing last", () => {
    expect([10, 9, null, 1].sort(compare)).toEqual([1, 9, 10, null]);
    expect(["O10", "O2", "a"].sort(compare)).toEqual(["a", "O2", "O10"]);
  });
  it("turns, and then goes back to the rank", () => {
    const one = pressed({ by: "rank", down: false }, "trust");
    expect(one).toEqual({ by: "trust", down: false });
    const two = pressed(one, "trust");
    expect(two).toEqual({ by: "trust", down: true });
    expect(pressed(two, "trust")).toEqual({ by: "rank", down: false });
  });
});

import { describe, expect, it } from "vitest";
import type { ColumnReport, Study } from "@/api/types";
import {
  drop,
  dropSentence,
  forget,
  include,
  isEdited,
  lacking,
  listed,
  roleOf,
  sameStudy,
  setKind,
  setRole,
  setRoles,
  setUnit,
  tidy,
} from "@/data/study";

const EMPTY: Study = {
  columns: {},
  drop: [],
  rules: [],
  dependencies: [],
  trust: {},
  machines: { throughput: false },
};

function report(name: string, more: Partial<ColumnReport> = {}): ColumnReport {
  return {
    name,
    kind: "number",
    role: "knob",
    distinct: 3,
    missing: 0,
    common: [],
    legal: "",
    stated: false,
    note: "",
    cells: "",
    ...more,
  };
}

describe("a study", () => {
  it("gives many columns one role, and keeps what else is said of them", () => {
    const before: Study = { ...EMPTY, columns: { a: { unit: "s" } }, drop: ["a", "c"] };
    const after = setRoles(before, ["a", "b"], "outcome");
    expect(after.columns).toEqual({ a: { role: "outcome", unit: "s" }, b: { role: "outcome" } });
    expect(after.drop).toEqual(["c"]);
    expect(setRoles(before, ["a"], "ignored").drop).toEqual(["a", "c"]);
    expect(sameStudy(setRoles(EMPTY, ["a"], "knob"), setRole(EMPTY, "a", "knob"))).toBe(true);
  });

  it("means the same with and without what says nothing", () => {
    const told = {
      ...EMPTY,
      columns: { b: { role: "knob", unit: null }, a: { unit: null } },
      group: null,
      map: {},
    } as Study;
    expect(sameStudy(told, { ...EMPTY, columns: { b: { role: "knob" } } })).toBe(true);
    expect(tidy(told).columns).toEqual({ b: { role: "knob" } });
  });

  it("does not depend on the order in which things were said", () => {
    expect(sameStudy({ ...EMPTY, drop: ["a", "b"] }, { ...EMPTY, drop: ["b", "a", "b"] })).toBe(
      true,
    );
    const one = setUnit(setRole(EMPTY, "a", "outcome"), "a", "s");
    const other = setRole(setUnit(EMPTY, "a", "s"), "a", "outcome");
    expect(sameStudy(one, other)).toBe(true);
  });

  it("keeps what the page cannot edit", () => {
    const told: Study = { ...EMPTY, comparable: [], group: "user", map: { a: { "x*": "x" } } };
    const edited = setRole(told, "a", "context");
    expect(edited.comparable).toEqual([]);
    expect(edited.group).toBe("user");
    expect(edited.map).toEqual({ a: { "x*": "x" } });
  });

  it("does not change what it is given", () => {
    const before = structuredClone(EMPTY);
    drop(setRole(EMPTY, "a", "knob"), ["b"]);
    expect(EMPTY).toEqual(before);
  });
});

describe("columns", () => {
  it("are dropped and used again", () => {
    const dropped = drop(EMPTY, ["a"]);
    expect(roleOf(dropped, report("a"))).toBe("ignored");
    expect(include(dropped, report("a"))).toEqual(EMPTY);
    expect(include(drop(setRole(EMPTY, "a", "ignored"), ["a"]), report("a"))).toEqual(EMPTY);
  });

  it("that were found useless become context when they are used all the same", () => {
    const used = include(EMPTY, report("id", { role: "ignored" }));
    expect(roleOf(used, report("id", { role: "ignored" }))).toBe("context");
  });

  it("are used again when they get a role", () => {
    const used = setRole(drop(EMPTY, ["a"]), "a", "outcome");
    expect(used.drop).toEqual([]);
    expect(roleOf(used, report("a"))).toBe("outcome");
  });

  it("lose their range when they become labels", () => {
    const ranged: Study = { ...EMPTY, columns: { a: { low: 1, high: 2, unit: "s" } } };
    expect(setKind(ranged, "a", "category").columns).toEqual({
      a: { kind: "category", unit: "s" },
    });
  });

  it("can be without a unit, though one was found", () => {
    const without = setUnit(EMPTY, "a", " ");
    expect(without.columns).toEqual({ a: { unit: "" } });
    expect(isEdited(without, EMPTY, "a")).toBe(true);
    expect(sameStudy(without, EMPTY)).toBe(false);
    expect(sameStudy(forget(without, EMPTY, "a"), EMPTY)).toBe(true);
  });

  it("go back to what was said first", () => {
    const base: Study = { ...EMPTY, columns: { a: { role: "context" } }, drop: ["b"] };
    const edited = drop(setRole(setRole(base, "b", "knob"), "a", "knob"), ["c"]);
    expect(isEdited(edited, base, "a")).toBe(true);
    const back = ["a", "b", "c"].reduce((study, name) => forget(study, base, name), edited);
    expect(sameStudy(back, base)).toBe(true);
    expect(isEdited(back, base, "a")).toBe(false);
  });
});

describe("what is told", () => {
  const reports = [report("a"), report("b"), report("id", { role: "ignored" })];

  it("names what was dropped and what remains", () => {
    expect(dropSentence(EMPTY, reports.slice(0, 2))).toBe("All 2 columns are used.");
    expect(dropSentence(drop(EMPTY, ["a"]), reports)).toBe(
      "Dropped 1 column: a. 1 column is ignored. Remaining 1: b.",
    );
    expect(dropSentence(drop(EMPTY, ["a", "b", "id"]), reports)).toBe(
      "Dropped 3 columns: a, b, id. No column remains.",
    );
  });

  it("does not count columns that the table does not have", () => {
    expect(dropSentence(drop(EMPTY, ["gone"]), reports.slice(0, 2))).toBe(
      "All 2 columns are used.",
    );
  });

  it("stays short with many names", () => {
    const names = Array.from({ length: 2000 }, (_, at) => `c${at}`);
    expect(listed(names, 2)).toBe("c0, c1 and 1998 more");
  });

  it("says what is lacking before anything can be learnt", () => {
    expect(lacking(EMPTY, [report("a")])).toMatch(/outcome/);
    expect(lacking(EMPTY, [report("t", { role: "outcome" })])).toMatch(/knob/);
    expect(lacking(EMPTY, [report("a"), report("t", { role: "outcome" })])).toBeNull();
  });
});

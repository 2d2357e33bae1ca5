import { describe, expect, test } from "vitest";
import type { Draft, Goal, Query } from "@/api/types";
import {
  draftOf,
  EMPTY,
  isEmpty,
  kindOf,
  withAsk,
  withChange,
  withGoal,
  withKind,
  withoutChange,
  withoutGoal,
  withoutRule,
  withParameters,
  withRule,
  withRules,
} from "@/query/draft";
import { examples } from "@/query/examples";
import { quality } from "@/query/quality";
import { aims, editOf, goalOf, likely, turnedOf, wishOf, withAim } from "@/query/shapes";
import { refused, sameQuestion, trouble } from "@/query/standing";
import { space } from "./table";

const least: Goal = { kind: "extreme", direction: "minimize" };
const less: Goal = { kind: "change", direction: "reduce", by: 0.1, relative: true };
const draft = (more: Partial<Draft>): Draft => ({ ...EMPTY, ...more });

describe("the kind that is meant, as the server decides it", () => {
  test.each<[Partial<Draft>, string | null]>([
    [{}, null],
    [{ ask: ["a"] }, "recommend"],
    [{ goals: { y: least } }, "recommend"],
    [{ goals: { y: { kind: "observe" } } }, null],
    [{ change: { a: { kind: "set", value: 1 } } }, "what-if"],
    [{ change: { a: { kind: "set", value: 1 } }, goals: { y: least } }, "recommend"],
    [{ goals: { y: less } }, "reconfigure"],
    [{ kind: "recommend", goals: { y: least }, baseline: { kind: "row", row: 1 } }, "reconfigure"],
    [{ kind: "what-if", goals: { y: less } }, "what-if"],
    [{ kind: "reconfigure" }, "reconfigure"],
  ])("%#", (more, kind) => expect(kindOf(draft(more))).toBe(kind));

  test("another kind keeps what it has room for", () => {
    const from = draft({
      kind: "reconfigure",
      goals: { y: less },
      baseline: { kind: "row", row: 1 },
    });
    expect(withKind(from, "recommend")).toMatchObject({ goals: { y: least }, baseline: null });
    expect(kindOf(withKind(from, "recommend"))).toBe("recommend");
    expect(withKind(from, "what-if").goals).toEqual({ y: { kind: "observe" } });
    expect(withKind(from, "what-if").baseline).toEqual({ kind: "row", row: 1 });
  });
});

describe("edits", () => {
  test("goals keep their place", () => {
    const two = draft({ goals: { a: least, b: least } });
    expect(Object.keys(withGoal(two, "c", less, "a").goals ?? {})).toEqual(["c", "b"]);
    expect(Object.keys(withGoal(two, "a", less).goals ?? {})).toEqual(["a", "b"]);
    expect(withoutGoal(two, "a").goals).toEqual({ b: least });
  });

  test("a parameter is asked for, kept, or changed", () => {
    const kept = draft({ keep: ["a", "b"], change: { c: { kind: "set", value: 1 } } });
    const asked = withAsk(kept, ["a", "c", "c"]);
    expect(asked).toMatchObject({ ask: ["a", "c"], keep: ["b"], change: {} });
    expect(withChange(asked, "a", { kind: "times", factor: 2 }).ask).toEqual(["c"]);
    expect(withParameters(asked, [], true)).toMatchObject({ everything: true, ask: [] });
    const changed = draft({ change: { a: { kind: "set", value: 1 } }, stated: { a: 2 } });
    expect(withoutChange(changed, "a")).toMatchObject({ change: {}, stated: {} });
  });

  test("rules", () => {
    const one = draft({ where: ["a <= 3", "b == 'x'"] });
    expect(withRule(one, " c > 1 ").where).toEqual(["a <= 3", "b == 'x'", "c > 1"]);
    expect(withRule(one, "a <= 4", 0).where).toEqual(["a <= 4", "b == 'x'"]);
    expect(withRule(one, "", 0).where).toEqual(["b == 'x'"]);
    expect(withRule(one, "a <= 3").where).toEqual(one.where);
    expect(withoutRule(one, 1).where).toEqual(["a <= 3"]);
    expect(withRules(one, ["a <= 5", "a >= 1"]).where).toEqual(["b == 'x'", "a <= 5", "a >= 1"]);
  });

  test("whether anything was said", () => {
    expect(isEmpty(EMPTY)).toBe(true);
    expect(isEmpty(draft({ count: 3 }))).toBe(true);
    expect(isEmpty(draft({ where: ["a <= 1"] }))).toBe(false);
  });

  test("a query is a draft", () => {
    const query: Query = {
      kind: "recommend",
      ask: ["a"],
      where: [{ text: "a <= 3", source: "query" }],
      goals: { y: least },
      seed: 7,
      chance: 0.95,
      beyond: true,
    };
    const options = { seed: 7, weights: {}, chance: 0.95, beyond: true };
    expect(draftOf(query)).toMatchObject({ where: ["a <= 3"], options });
  });
});

describe("fields and what they stand for", () => {
  test.each<Goal>([
    least,
    less,
    { kind: "change", direction: "increase", by: 3, relative: false, unit: "s" },
    { kind: "within", low: null, high: 2, unit: null },
    { kind: "within", low: 1, high: null, unit: null },
    { kind: "within", low: 1, high: 2, unit: "s" },
    { kind: "reach", value: 3, unit: null },
    { kind: "same", tolerance: null },
    { kind: "same", tolerance: 0.05, beyond: null },
    { kind: "same", tolerance: null, beyond: "less" },
    { kind: "same", tolerance: 0.05, beyond: "more" },
    { kind: "is", value: false },
    { kind: "observe" },
  ])("goal %#", (goal) => expect(goalOf(wishOf(goal))).toMatchObject(goal));

  test("half of a goal is none", () => {
    const wish = wishOf(least);
    expect(goalOf({ ...wish, aim: "at most" })).toBeNull();
    const most = { ...wish, aim: "at most" as const, first: 5 };
    expect(withAim(most, "at least").first).toBe(5);
    expect(withAim(most, "stay the same").first).toBeNull(); // 5 ms are no 5 %
    expect(goalOf({ ...wish, aim: "between", first: 3, second: 2 })).toBeNull();
    expect(goalOf({ ...wish, aim: "reduce by", first: 0 })).toBeNull();
  });

  test("changes", () => {
    expect(editOf(turnedOf({ kind: "plus", amount: -1 }))).toMatchObject({
      kind: "plus",
      amount: -1,
    });
    expect(editOf(turnedOf({ kind: "set", value: null }))).toMatchObject({
      kind: "set",
      value: null,
    });
    expect(editOf({ way: "set", value: undefined, amount: null, unit: null })).toBeNull();
  });

  test("what is likely wanted", () => {
    const [time, flops, state] = space.parameters.slice(4);
    if (!time || !flops || !state) throw new Error("the table has three outcomes");
    expect(likely(time, false).aim).toBe("minimize");
    expect(likely(flops, false).aim).toBe("maximize");
    expect(likely(state, false)).toMatchObject({ aim: "is", label: "ok" });
    expect(likely(flops, true).aim).toBe("just tell");
    expect(aims(time, "recommend")).not.toContain("reduce by");
    expect(aims(time, "reconfigure")).toContain("reduce by");
  });
});

describe("other words", () => {
  test("examples name columns of the table", () => {
    const [first, second, third] = examples(space);
    expect(first).toBe('recommend threads and my "flags" to minimize run time');
    expect(second).toBe("reconfigure row 0 to reduce run time by 10%");
    expect(third).toBe("what if I double threads?");
    expect(examples({ parameters: [] })).toEqual([]);
  });

  test("what is wrong with a draft", () => {
    const reply = { choices: [], links: [], text: "", expecting: "confirm" as const };
    const wrong = "No configuration can obey a and b together.";
    expect(trouble({ ...reply, trouble: wrong })).toBe(wrong);
    expect(trouble({ ...reply, trouble: "" })).toBe("");
    // What went wrong before is no matter while another part is asked for.
    expect(trouble({ ...reply, expecting: "goal", trouble: wrong })).toBe("");
  });

  test("a question that was refused can still be asked", () => {
    const reply = { choices: [], links: [], text: "", expecting: "confirm" as const, trouble: "" };
    const query: Query = { kind: "recommend", ask: [], where: [], beyond: false };
    expect(refused(reply)).toBe(true);
    expect(refused({ ...reply, trouble: "a and b exclude each other." })).toBe(false);
    expect(refused({ ...reply, query })).toBe(false);
    expect(sameQuestion("Recommend X.", "Recommend X")).toBe(true);
  });

  test("quality in a line", () => {
    const model = { family: "linear", rows: 1, features: [], seconds: 1 };
    const models = [
      { ...model, target: "y", error: 0.076, error_name: "MAPE" },
      { ...model, target: "c", error: 0.2, error_name: "1 - macro F1" },
    ];
    expect(quality({ models } as never)).toBe(
      "on new runs off by 7.6 % in y on average; score of 80 % in c",
    );
    // Nobody knows what a model that was brought has learnt from.
    expect(quality({ models, brought: { y: "mine" } } as never)).toBe(
      "on new runs score of 80 % in c; on past runs, which your model may know, off by 7.6 % in y on average",
    );
  });
});

import { describe, expect, it } from "vitest";
import type { EngineInfo, ExperimentRun } from "@/api/types";
import { planOf, readPlan } from "@/experiment/plan";
import { isAwaited, predicted, resultOf, varied } from "@/experiment/runs";
import { engine } from "../answer/fixtures";

describe("the plan of an experiment", () => {
  it("has the knobs with what is legal of them, and the goal", () => {
    const wish = { outcome: "runtime_ms", direction: "minimize", budget: 12 } as const;
    const plan = planOf(engine as EngineInfo, { kernel: "spmv" }, wish);
    expect(plan.goals).toEqual({ runtime_ms: "minimize" });
    expect(plan.fixed).toEqual({ kernel: "spmv" });
    const knobs = engine.space.parameters.filter((one) => one.role === "knob");
    expect(Object.keys(plan.columns as object)).toEqual(knobs.map((one) => one.name));
  });

  it("is read as it was typed, or says what is wrong", () => {
    expect(readPlan('{"budget": 3}')).toEqual({ plan: { budget: 3 } });
    expect(readPlan("[]")).toHaveProperty("wrong");
    expect(readPlan("{")).toHaveProperty("wrong");
  });
});

describe("runs of an experiment", () => {
  const run = (state: string, config: object) => ({ state, config }) as unknown as ExperimentRun;

  it("are told by what sets them apart", () => {
    const runs = [run("done", { a: 1, b: 2 }), run("failed", { a: 3, b: 2 })];
    expect(varied(runs)).toEqual(["a"]);
    expect(varied(runs.slice(0, 1))).toEqual(["a", "b"]);
    expect(["suggested", "running", "done", "cancelled"].map((s) => isAwaited(run(s, {})))).toEqual(
      [true, true, false, false],
    );
  });

  it("are told back as numbers, labels, or a failure", () => {
    expect(resultOf(3, { runtime: " 1.5 ", state: "ok", power: "" }, "")).toEqual({
      run: 3,
      runtime: 1.5,
      state: "ok",
    });
    expect(resultOf(3, { runtime: "1" }, "out of memory")).toEqual({
      run: 3,
      failure: "out of memory",
    });
    expect(resultOf(3, { runtime: " " }, "")).toBeNull();
  });

  it("have what was predicted of them with its interval", () => {
    const all = [{ name: "t", value: 12, low: 10, high: 14 }] as never;
    expect(predicted(all, "t")).toBe("12 [10, 14]");
    expect(predicted(all, "u")).toBe("");
  });
});

import { describe, expect, it } from "vitest";
import { nearest, obstacles } from "@/answer/instead";
import type { Answer } from "@/api/types";
import { answer } from "./fixtures";

function blocked(by: string[], where: string[] = []): Answer {
  const given = answer("impossible");
  return {
    ...given,
    query: { ...given.query, where: where.map((text) => ({ text, source: "query" })) },
    certificate: given.certificate
      ? { ...given.certificate, blocking: by, blocking_goals: {} }
      : null,
  } as Answer;
}

describe("what stands in the way", () => {
  it("can be taken back where the question said it", () => {
    const [found] = obstacles(blocked(["threads <= 1"], ["threads <= 1", "kernel == 'spmv'"]));
    expect(found?.what).toBe("condition");
    expect(found?.without?.where?.map((one) => one.text)).toEqual(["kernel == 'spmv'"]);
  });
  it("stays where it is a rule of the data, or the only goal", () => {
    expect(obstacles(blocked(["nodes * 4 >= gpus"]))[0]).toMatchObject({
      what: "rule",
      without: null,
    });
    expect(obstacles(answer("impossible"))[0]).toMatchObject({ what: "goal", without: null });
  });
  it("tells goals apart when there are several", () => {
    const found = obstacles(answer("conflicting"));
    expect(found.map((one) => one.what)).toEqual(["goal", "goal"]);
    expect(Object.keys(found[0]?.without?.goals ?? {})).toEqual(["runtime_ms"]);
    expect(Object.keys(found[1]?.without?.goals ?? {})).toEqual(["gflops"]);
  });
  it("is a rule where it is about an outcome but no goal", () => {
    expect(obstacles(blocked(["runtime_ms <= 1"]))[0]?.what).toBe("rule");
  });
});

describe("what can be reached", () => {
  it("asks for a bound that can be met", () => {
    const given = answer("impossible");
    const [found] = nearest(given, given.certificate);
    expect(found?.unit).toBe("ms");
    expect(found?.goal).toBe("runtime_ms ≤ 0.04635");
    const goal = found?.instead?.goals?.runtime_ms;
    expect(goal?.kind === "within" && (goal.high ?? 0) >= (found?.value ?? 1)).toBe(true);
  });
  it("offers nothing where loosening one goal is not so simple", () => {
    const given = answer("conflicting");
    expect(nearest(given, given.certificate).map((one) => one.instead)).toEqual([null]);
    expect(nearest(given, null)).toEqual([]);
  });
});

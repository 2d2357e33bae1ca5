import { describe, expect, it } from "vitest";
import { loosened, nearest, obstacles } from "@/answer/instead";
import type { Answer } from "@/api/types";
import { answer, idea, predicted } from "./fixtures";

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
  it("is the goal as it was asked, and what that takes of a prediction", () => {
    expect(obstacles(answer("abstained"))).toEqual([
      {
        text: "runtime ≤ 0.001",
        what: "goal",
        without: null,
        takes: "takes a prediction of runtime ≤ 0.000791342 for a chance of 80 %",
      },
    ]);
  });
  it("is a rule where it is about an outcome but no goal", () => {
    expect(obstacles(blocked(["runtime_ms <= 1"]))[0]?.what).toBe("rule");
  });
});

describe("what can be reached", () => {
  it("asks for a bound that is met with the chance", () => {
    const given = answer("abstained");
    expect(nearest(given)).toEqual([
      { outcome: "runtime", unit: null, predicted: 15.619888099747, sure: 26.553273865026114 },
    ]);
    const found = loosened(given);
    expect(found?.goals).toBe("runtime ≤ 26.9");
    expect(found?.query.goals?.runtime).toEqual({ kind: "within", low: null, high: 26.9 });
    expect(found?.query.ask).toEqual(given.query.ask);
  });
  it("takes no prediction for a promise", () => {
    const given = { ...answer("abstained"), reachable: {} };
    expect(nearest(given)[0]?.sure).toBeNull();
    expect(loosened(given)).toBeNull();
  });
  it("asks for what is predicted where no chance was asked for", () => {
    const found = loosened(answer("impossible"));
    expect(found?.goals).toBe("runtime_ms ≤ 0.04635");
  });
  it("offers nothing that the starting run has already", () => {
    const given = answer("abstained");
    const goal = { kind: "change", direction: "reduce", by: 0.9, relative: true } as const;
    const from = (against: number) => ({
      ...given,
      query: { ...given.query, goals: { runtime: goal } },
      ideas: [
        { ...idea(given), outcomes: idea(given).outcomes.map((one) => ({ ...one, against })) },
      ],
    });
    expect(loosened(from(25))).toBeNull();
    expect(loosened(from(50))?.goals).toBe("runtime ≤ 26.9");
  });
  it("offers nothing where loosening one goal is not so simple", () => {
    expect(loosened(answer("conflicting"))).toBeNull();
    const given = answer("abstained");
    const other = predicted({ name: "energy", meets: false });
    const two = { ...idea(given), outcomes: [...idea(given).outcomes, other] };
    expect(loosened({ ...given, ideas: [two] })).toBeNull();
    expect(nearest({ ...given, certificate: null, reachable: {} })).toEqual([]);
  });
});

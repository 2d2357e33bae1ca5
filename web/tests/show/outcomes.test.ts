import { expect, it } from "vitest";
import type { EngineInfo } from "@/api/types";
import { isLearnt, notLearnt, notLearntSentence, outcomesOf } from "@/show/outcomes";

const NAMES = ["runtime", "power", "state", "energy", "traffic", "stalls"];

function engine(learnt: readonly string[], names: readonly string[] = NAMES): EngineInfo {
  const columns = [{ name: "nodes", role: "knob" }, ...names.map(outcome)];
  const models = learnt.map((target) => ({ target }));
  return { space: { parameters: columns }, models } as unknown as EngineInfo;
}

const outcome = (name: string) => ({ name, role: "outcome" });

it("tells outcomes that are learnt from those that are not", () => {
  const one = engine(["power"]);
  expect(outcomesOf(one)).toEqual(NAMES);
  expect(isLearnt(one, "power")).toBe(true);
  expect(isLearnt(one, "runtime")).toBe(false);
  expect(notLearnt(one)).toEqual(NAMES.filter((name) => name !== "power"));
});

it("says it in a sentence, and nothing where all are learnt", () => {
  expect(notLearntSentence(engine(NAMES))).toBeNull();
  expect(notLearntSentence(engine(["power"], ["power", "state"]))).toBe(
    "state: learnt when a question first needs it",
  );
  expect(notLearntSentence(engine([]))).toBe(
    "runtime, power, state, energy and 2 more: learnt when a question first needs them",
  );
});

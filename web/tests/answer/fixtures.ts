/** Answers that the engine of the embedded data gave, and what is made of them for a case. */
import type { Answer, AnswerView, EngineInfo, Prediction, Suggestion } from "@/api/types";
import abstained from "./fixtures/abstained.json";
import conflicting from "./fixtures/conflicting.json";
import engineJson from "./fixtures/engine.json";
import impossible from "./fixtures/impossible.json";
import population from "./fixtures/population.json";
import recommend from "./fixtures/recommend.json";
import reconfigure from "./fixtures/reconfigure.json";
import whatIf from "./fixtures/what-if.json";

export const engine = engineJson as unknown as EngineInfo;

const views = {
  abstained,
  conflicting,
  impossible,
  population,
  recommend,
  reconfigure,
  "what-if": whatIf,
};

export function view(name: keyof typeof views): AnswerView {
  return views[name] as unknown as AnswerView;
}

export function answer(name: keyof typeof views): Answer {
  return view(name).answer;
}

export function first(given: Answer): Suggestion {
  const found = given.suggestions[0];
  if (found === undefined) throw new Error("there is no suggestion");
  return found;
}

export function idea(given: Answer): Suggestion {
  const found = given.ideas[0];
  if (found === undefined) throw new Error("there is no idea");
  return found;
}

export function predicted(given: Partial<Prediction>): Prediction {
  return { name: "runtime_ms", value: 1, ...given };
}

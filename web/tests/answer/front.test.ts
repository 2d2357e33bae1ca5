import { expect, it } from "vitest";
import { tradeOffs } from "@/answer/front";
import type { Answer } from "@/api/types";
import { answer } from "./fixtures";

function withFront(points: object[]): Answer {
  const front = { directions: { runtime: "minimize", rate: "maximize" }, points };
  return { ...answer("recommend"), front, units: { runtime: "s" } } as unknown as Answer;
}
const point = (place: number, against: object[], more: object = {}) => ({
  place,
  settings: { nodes: place + 1 },
  values: { runtime: 10 - place, rate: 5 - place },
  against,
  ...more,
});
const same = (best: string) => ({ best, changes: { runtime: 0, rate: 0 } });

it("trade-offs are told by their ends, and a knee beside both of them", () => {
  const lines = tradeOffs(
    withFront([
      point(0, [same("runtime"), { best: "rate", changes: { runtime: -0.2, rate: -0.1 } }]),
      point(
        1,
        [
          { best: "runtime", changes: { runtime: 0.021, rate: 0.3 } },
          { best: "rate", changes: { runtime: -0.25, rate: -0.06 } },
        ],
        { knee: true, alike: [0], measured: 2 },
      ),
      point(2, [{ best: "runtime", changes: { runtime: 0.5, rate: 0.4 } }, same("rate")]),
      point(0, [], { idea: true }),
    ]),
    {},
  );
  expect(lines?.map((one) => one.says)).toEqual([
    "the least runtime",
    "2.1 % more runtime and 30 % more rate than at the best runtime; 25 % less runtime and 6 % less rate than at the best rate",
    "the most rate",
  ]);
  expect(lines?.[1]).toMatchObject({ knee: true, alike: [1], measured: 2, settings: "nodes = 2" });
  expect(lines?.[0]?.values).toEqual(["10 s", "5"]);
});

it("there is nothing to trade off between less than two points", () => {
  expect(tradeOffs(answer("recommend"), {})).toBeNull();
  expect(tradeOffs(withFront([point(0, [])]), {})).toBeNull();
});

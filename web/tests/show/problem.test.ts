import { expect, it } from "vitest";
import { sentence } from "@/show/ProblemNote";

it("what only helps on the command line is left out", () => {
  expect(sentence("give one the role outcome (--role COLUMN=outcome)")).toBe(
    "Give one the role outcome.",
  );
  expect(
    sentence("keep its gaps (--missing 'time (s)=none'), or drop it (--drop 'time (s)')"),
  ).toBe("Keep its gaps, or drop it.");
  expect(sentence("take it for a category (kind: category in a study file)")).toBe(
    "Take it for a category.",
  );
  expect(
    sentence(
      "6 rows dropped: the run failed (timeout); where that is wrong, say what it means under `map` in the study",
    ),
  ).toBe("6 rows dropped: the run failed (timeout).");
  expect(sentence("the goal (runtime) is missing")).toBe("The goal (runtime) is missing.");
});

import { expect, it } from "vitest";
import { skillWords } from "@/show/skill";

it("tells how much a model knows beyond the simplest prediction", () => {
  expect(skillWords({ target: "t", skill: 0.84, skilled: true })).toBe(
    "skill 0.84: it saves 84 % of the error of the simplest prediction",
  );
  expect(skillWords({ target: "t", skill: 0.02, skilled: false })).toMatch(
    /^skill 0\.02: it is not clearly better .* nothing it predicts is trusted$/,
  );
  expect(skillWords({ target: "t" })).toBeNull();
});

it("takes that of the family that was chosen where the model has none of its own", () => {
  const scores = [
    { status: "tried", skill: 0.1 },
    { status: "chosen", skill: 0.5 },
  ];
  expect(skillWords({ target: "t", scores })).toMatch(/^skill 0\.50/);
});

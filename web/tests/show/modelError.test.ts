import { expect, it } from "vitest";
import { errorSentence, score } from "@/show/modelError";

it("numbers are off by a share of themselves", () => {
  const card = { error: 0.0764, error_name: "MAPE", low: 0.068, high: 0.0856, checked: 602 };
  expect(errorSentence(card)).toBe("off by 7.6 % on average (6.8 to 8.6 %), on 602 unseen runs");
  expect(errorSentence({ ...card, low: null, checked: 1 })).toBe(
    "off by 7.6 % on average, on 1 unseen run",
  );
});

it("a model that was brought may know the runs that check it", () => {
  const card = { error: 0.0764, error_name: "MAPE", checked: 602, unseen: false };
  expect(errorSentence(card)).toBe(
    "off by 7.6 % on average, on 602 runs that it may have been trained on",
  );
  expect(errorSentence({ ...card, checked: 0 })).toBe(
    "off by 7.6 % on average, on runs that it may have been trained on",
  );
});

it("classes have a score, which is what their error leaves", () => {
  const card = { error: 0.2, error_name: "1 - macro F1", low: 0.15, high: 0.25, checked: 0 };
  expect(score(card)).toBe("score of 80 %");
  expect(errorSentence(card)).toBe("score of 80 % (75 to 85 %), on unseen runs");
  expect(score({ ...card, error: 1.1 })).toBe("score of 0 %");
});

it("other errors are told by their name", () => {
  expect(errorSentence({ error: 3.5, error_name: "RMSE", low: 3, high: 4, checked: 9 })).toBe(
    "RMSE of 3.5 (3 to 4), on 9 unseen runs",
  );
});

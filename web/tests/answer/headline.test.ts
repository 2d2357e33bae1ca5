import { describe, expect, it } from "vitest";
import {
  firstSentence,
  type Headline,
  headline,
  listed,
  outcomeInWords,
  units,
} from "@/answer/headline";
import { answer, engine, predicted } from "./fixtures";

/** As the card has it: what to do, then what comes of it. */
const sentence = ({ act, outcomes }: Headline) =>
  outcomes.length ? `${act}: ${outcomes.join("; ")}.` : `${act}.`;
const said = (name: Parameters<typeof answer>[0], at = 0) =>
  sentence(headline(answer(name), at, units(engine)));

describe("the decision in one sentence", () => {
  it("says what to use", () => {
    expect(said("recommend")).toBe(
      "Use threads = 2, schedule = static, chunk = 4, flags = O1: runtime_ms about 1.23 ms (90 % of runs between 0.88 and 1.72).",
    );
  });
  it("says what to change, also for another suggestion", () => {
    expect(said("reconfigure")).toBe(
      "Change flags from O2 to O3: runtime_ms about 1.94 ms, −66 % (90 % of runs between 1.47 and 2.55).",
    );
    expect(said("reconfigure", 2)).toMatch(/^Change flags from O2 to Ofast-native: /);
  });
  it("says what would happen", () => {
    expect(said("what-if")).toMatch(/^With flags from Ofast-native to O3: runtime_ms about /);
    expect(said("population")).toBe(
      "Over 296 past runs, on average: runtime_ms becomes 3.429 ms (−46 %); gflops becomes 22.28 (+56 %).",
    );
  });
  it("says so when nothing has to change or nothing was found", () => {
    const given = answer("reconfigure");
    const [one] = given.suggestions;
    if (one === undefined) throw new Error("no suggestion");
    const still = { ...given, suggestions: [{ ...one, edits: [] }] };
    expect(headline(still, 0, {}).act).toBe("Change nothing");
    expect(sentence(headline({ ...given, suggestions: [] }, 0, {}))).toBe(
      "There is no suggestion.",
    );
  });
});

describe("an outcome in words", () => {
  it("tells classes with their score", () => {
    expect(outcomeInWords(predicted({ name: "state", value: "<ok>", probability: 0.934 }))).toBe(
      "state = <ok> (score 93 %)",
    );
  });
  it("tells open intervals", () => {
    const open = (low: unknown, high: unknown) =>
      outcomeInWords(predicted({ low: low as number, high: high as number, level: 0.8 }));
    expect(open("-Infinity", "Infinity")).toMatch(/too few runs to give a range/);
    expect(open(0, "Infinity")).toMatch(/80 % of runs from 0 up/);
    expect(open("-Infinity", 3)).toMatch(/80 % of runs up to 3/);
    expect(open(null, null)).toBe("runtime_ms about 1");
  });
  it("tells what is a mean over contexts, and what was measured", () => {
    const one = predicted({ low: 0.5, high: 8, level: 0.9, observed: 1.25 });
    expect(outcomeInWords(one, 16)).toBe(
      "runtime_ms about 1 on average over 16 contexts (90 % of runs between 0.5 and 8), measured 1.25",
    );
    // Beside a starting run, the measured one is that of the start.
    expect(outcomeInWords(predicted({ before: 2, observed: 1.25 }))).not.toContain("measured");
  });
});

it("shortens very long lists", () => {
  expect(listed(["a", "b"])).toBe("a, b");
  expect(listed([..."abcdefghijkl"])).toBe("a, b, c, d, e, f, g and 5 more");
});

it("begins a reason with its first sentence, whatever numbers are in it", () => {
  expect(firstSentence("Caution: 0.5 is far. Apart from that, fine.")).toBe("Caution: 0.5 is far.");
  expect(firstSentence("no full stop")).toBe("no full stop");
});

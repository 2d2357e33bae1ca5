import { describe, expect, test } from "vitest";
import { afterAnswer, earlier, isNote, linksIn, pieces } from "@/chat/reply";

describe("what was said", () => {
  test("a finished query stands in monospace", () =>
    expect(
      pieces(
        "✓ Query complete. Confirm:\nRecommend a configuration X = {a: ?} to achieve Y = {b: minimize}.",
      ),
    ).toEqual([
      { as: "prose", text: "✓ Query complete. Confirm:" },
      {
        as: "formal",
        text: "Recommend a configuration X = {a: ?} to achieve Y = {b: minimize}.",
      },
    ]));

  test("a place in a text keeps its column", () =>
    expect(pieces("Wrong.\nWhat if X\n        ^\nDo this.")).toEqual([
      { as: "prose", text: "Wrong." },
      { as: "formal", text: "What if X\n        ^" },
      { as: "prose", text: "Do this." },
    ]));

  test("examples and lists", () =>
    expect(pieces("You can:\n- this\n\n(e.g., that)").map((piece) => piece.as)).toEqual([
      "prose",
      "item",
      "aside",
    ]));

  test("a table stands in monospace as one piece", () =>
    expect(pieces("They differ:\n         row 3  row 7\n  nodes  4      8\nMore.")).toEqual([
      { as: "prose", text: "They differ:" },
      { as: "formal", text: "         row 3  row 7\n  nodes  4      8" },
      { as: "prose", text: "More." },
    ]));

  test("markup stays text", () =>
    expect(pieces("<script>x</script>")).toEqual([{ as: "prose", text: "<script>x</script>" }]));
});

describe("turns", () => {
  const turns = [
    { who: "compass", text: "Hello.", answer: false },
    { who: "person", text: "(changed the question in the form)", answer: false },
    { who: "person", text: "first", answer: false },
    { who: "compass", text: "What?", answer: false },
    { who: "person", text: "second", answer: false },
  ];

  test("notes are no messages", () => {
    expect(turns.map(isNote)).toEqual([false, true, false, false, false]);
  });

  test("earlier messages", () => {
    expect(earlier(turns, 1)).toBe("second");
    expect(earlier(turns, 2)).toBe("first");
    expect(earlier(turns, 3)).toBeUndefined();
  });

  test("words that were taken for columns of another name", () => {
    const how = "synonym" as const;
    const links = [
      { words: "number of threads", columns: ["num_threads"], how },
      { words: "chunk", columns: ["chunk"], how: "exact" as const },
      { words: "speed", columns: ["gflops", "runtime"], how },
    ];
    const found = linksIn("The Number of Threads and chunk", links);
    expect(found.map((link) => link.words)).toEqual(["number of threads"]);
  });
});

test("an answer that is shown beside the conversation leaves what can be asked next", () => {
  expect(afterAnswer("I suggest nodes = 2.\nruntime is 3 s.\nYou can ask why.")).toBe(
    "You can ask why.",
  );
});

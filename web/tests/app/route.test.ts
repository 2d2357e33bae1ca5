import { describe, expect, test } from "vitest";
import { href, parse, type Route } from "@/app/route";

const QUESTION = "Recommend X = {a b: ?} to achieve Y = {t: minimize} where C = {k == 'x&y#?'}";

describe("addresses", () => {
  const routes: Route[] = [
    { page: "home" },
    { page: "history" },
    { page: "data", dataset: "0123456789abcdef" },
    { page: "answer", answer: "0123456789abcdef" },
    { page: "machines" },
    { page: "machines", dataset: "0123456789abcdef" },
    { page: "synthetic" },
    { page: "synthetic", dataset: "0123456789abcdef" },
    { page: "synthesizer", synthesizer: "0123456789abcdef" },
    { page: "jobs" },
    { page: "jobs", dataset: "0123456789abcdef", job: "4711_3" },
    { page: "jobs", dataset: "0123456789abcdef", report: true },
    { page: "ask", engine: "0123456789abcdef" },
    {
      page: "ask",
      engine: "0123456789abcdef",
      chat: "fedcba9876543210",
      question: QUESTION,
      data: "abc",
      rules: ["a >= 1", "b in {'x', 'y'}"],
    },
  ];
  test.each(routes)("%j comes back from its address", (route) => {
    expect(parse(href(route))).toEqual(route);
  });

  test("nothing in an address asks by itself", () => {
    const plain: Route = { page: "ask", engine: "0123456789abcdef", question: QUESTION };
    expect(parse(`${href(plain)}&run=1`)).toEqual(plain);
  });

  test.each(["", "#", "#/", "#/nothing/here", "#/data", "#/ask/", "#token=x", "#/%E0%A4%A"])(
    "%s leads home",
    (hash) => {
      expect(parse(hash)).toEqual({ page: "home" });
    },
  );
});

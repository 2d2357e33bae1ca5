import { expect, it } from "vitest";
import { searched, sortedBy, sortOf, turned } from "@/data/rows";

it("rows turn their order: ascending, descending, as in the table", () => {
  const one = turned({ by: null, down: false }, "nodes");
  const two = turned(one, "nodes");
  expect([one, two, turned(two, "nodes")].map(sortedBy)).toEqual([
    { sort: "nodes", down: false },
    { sort: "nodes", down: true },
    {},
  ]);
  expect(turned(two, "app")).toEqual({ by: "app", down: false });
  expect([sortOf(one, "nodes"), sortOf(two, "nodes"), sortOf(two, "app")]).toEqual([
    "ascending",
    "descending",
    "none",
  ]);
});

it("what is typed is a rule where something is compared, else a text", () => {
  expect(searched("nodes >= 4")).toEqual({ where: ["nodes >= 4"] });
  expect(searched("app in {'ft'}")).toEqual({ where: ["app in {'ft'}"] });
  expect(searched("binary")).toEqual({ text: "binary" });
  expect(searched("")).toEqual({});
});

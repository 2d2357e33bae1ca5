import { MantineProvider } from "@mantine/core";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { Draft } from "@/api/types";
import { EMPTY, whole, withOption } from "@/query/draft";
import { AdvancedFields } from "@/query/edit/AdvancedFields";

function shown(draft: Draft): string {
  return renderToStaticMarkup(
    <MantineProvider>
      <AdvancedFields draft={whole(draft)} onEdit={() => undefined} />
    </MantineProvider>,
  );
}

it("a chance is shown in percent, and the fields are open where it is given", () => {
  const text = shown(withOption(EMPTY, { chance: 0.95 }));
  expect(text).toContain("Chance to meet the goals");
  expect(text).toContain('value="95"');
  expect(text).toContain('aria-expanded="true"');
  expect(shown(EMPTY)).toContain('aria-expanded="false"');
});

it("rules that nobody stated can be kept or ignored", () => {
  const text = shown(withOption(EMPTY, { dependencies: "keep" }));
  expect(text).toMatch(/<option value="keep" selected="">/);
  expect(text).toContain('aria-expanded="true"');
});

it("whether past runs may be left is a box to tick", () => {
  const text = shown(withOption(EMPTY, { beyond: true }));
  expect(text).toContain("Also search beyond past runs");
  expect(text).toMatch(/<input[^>]*type="checkbox"[^>]*checked=""/);
  expect(shown(EMPTY)).not.toMatch(/<input[^>]*type="checkbox"[^>]*checked=""/);
  expect(text).toContain('aria-expanded="true"');
});

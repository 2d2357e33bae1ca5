/** What is said about a part of the page that cannot be shown. */
import { asProblem, problem } from "@/api/problem";
import type { Problem } from "@/api/types";

// As Chromium, Firefox, Safari and the loader of style sheets say it.
const NOT_LOADED =
  /dynamically imported module|importing a module script|unable to preload|mime type/i;

export function unshown(error: unknown): Problem {
  const said = asProblem(error).error;
  if (NOT_LOADED.test(error instanceof Error ? error.message : said))
    return problem(
      "this part of the page could not be loaded",
      "the server cannot be reached, or it has a newer page; nothing that was asked or saved is lost",
    );
  return problem(
    "this part of the page cannot be shown",
    `nothing that was asked or saved is lost; what went wrong: ${said}`,
  );
}

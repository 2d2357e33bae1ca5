/** Each view on two tables that the page has never seen: what one has, before and beside questions. */
import type { Page } from "@playwright/test";
import { expect, HOME, look, test } from "./look";
import { ask, bring, drawn } from "./person";
import { solver, sweep } from "./tables";

test.setTimeout(420_000);
const LEARNING = 240_000;

/** Bring a table with these roles, and come to where it is asked about. */
async function begin(page: Page, name: string, content: string, roles: Record<string, string>) {
  await page.goto(HOME);
  await bring(page, name, content);
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  for (const [column, role] of Object.entries(roles))
    await page.getByRole("combobox", { name: `Role of ${column}` }).selectOption(role);
  await page.getByRole("button", { name: /^Learn/ }).click();
  await expect(page.getByRole("heading", { level: 1, name: `Ask about ${name}` })).toBeVisible();
}

test("a table with contexts and failures: overview, and a question from a run of it", async ({
  page,
}) => {
  await begin(page, "solver runs.csv", solver(160), {
    grid: "context",
    "mpi ranks": "knob",
    "block size": "knob",
    precond: "knob",
    "solve time (s)": "outcome",
    "memory (MB)": "outcome",
  });
  const overview = page.getByRole("region", { name: "Overview of the past runs" });
  const best = overview.getByRole("region", { name: "Best runs so far" });
  // By the law of the table: most ranks, the middle block size, the best preconditioner.
  await expect(best.getByRole("listitem")).toHaveCount(2);
  for (const grid of await best.getByRole("listitem").all())
    await expect(grid).toContainText(/mpi ranks = 32, block size = 64, precond = ilu/);
  await expect(overview.getByRole("region", { name: "Failures and left out rows" })).toContainText(
    "timeout",
  );
  await expect(overview.getByRole("region", { name: "What this table cannot tell" })).toContainText(
    "solver is 'gmres' in every run",
  );
  await drawn(page);
  await look(page, "overview");

  // What matters is worked out when somebody wants to know, with progress.
  await overview.getByRole("button", { name: "Learn it now" }).click();
  const matters = overview.getByRole("region", { name: "What matters most" });
  await expect(matters.getByText("mpi ranks")).toBeVisible({ timeout: LEARNING });

  // From a run on the front straight to a question about it.
  await overview.getByText(/^Show the \d+ runs?: no other run/).click();
  await overview
    .getByRole("button", { name: /^Row \d+$/ })
    .first()
    .click();
  await expect(overview.getByText(/^solve time \(s\) \d/)).toBeVisible();
  await look(page, "overview-picked");
  await overview.getByRole("button", { name: "What if", exact: true }).click();
  await expect(page.getByRole("button", { name: /^run \d+$/ })).toBeVisible();
  await best.getByRole("button", { name: /^Find something better: grid = large/ }).click();
  await expect(page.getByRole("button", { name: "grid is large" })).toBeVisible();
  await ask(page, LEARNING);
  await expect(page.getByRole("heading", { name: /^Use mpi ranks = 32/ })).toBeVisible();
});

test("a sweep without contexts: overview and run history", async ({ page }) => {
  await begin(page, "sweep.csv", sweep(), { gflops: "outcome", power_w: "outcome" });
  const overview = page.getByRole("region", { name: "Overview of the past runs" });
  const best = overview.getByRole("region", { name: "Best runs so far" });
  await expect(best).toContainText("Most gflops");
  await expect(best).toContainText("unroll = 8, vector = 512, prefetch = 4");
  await expect(overview).toContainText("No configuration was run twice");
  await overview.getByText("Run history", { exact: true }).click();
  await expect(
    overview.getByRole("img", { name: /gflops in the order of the rows/ }),
  ).toBeVisible();
  await look(page, "overview-history");
  await best.getByRole("button", { name: /^Reconfigure this run: row \d+$/ }).click();
  await expect(page.getByRole("button", { name: "increase gflops by 10 %" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Ask", exact: true })).toBeEnabled();
});

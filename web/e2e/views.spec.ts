/** Each view on two tables that the page has never seen: what one has, before and beside questions. */
import type { Page } from "@playwright/test";
import { expect, HOME, look, test } from "./look";
import { ask, bring, drawn, say } from "./person";
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

  // Two outcomes: the trade-offs, of which one is chosen by a click.
  await say(page, "start over");
  await say(page, "recommend unroll, vector and prefetch to maximize gflops and minimize power_w");
  await ask(page, LEARNING);
  const tradeOffs = page.getByRole("table", { name: "Trade-offs" });
  await expect(tradeOffs.getByText("the most gflops")).toBeVisible();
  await expect(tradeOffs.getByText("the least power_w")).toBeVisible();
  await tradeOffs.getByText("the least power_w").click();
  await expect(page.getByRole("heading", { name: /^Use unroll = 1, vector = 128/ })).toBeVisible();
  await drawn(page);
  await look(page, "front");

  // The rows that it is about: found by a rule, sorted, and one picked to begin with.
  await page.getByRole("link", { name: "48 past runs" }).click();
  await page.getByRole("tab", { name: "Rows" }).click();
  await page.getByRole("textbox", { name: "Find rows" }).fill("unroll >= 8");
  await expect(page.getByText("Rows 0 to 11, 12 in all")).toBeVisible();
  const rows = page.getByRole("region", { name: "Rows as they were given" });
  await rows.getByRole("button", { name: "gflops" }).click();
  await expect(rows.getByRole("columnheader", { name: "gflops" })).toHaveAttribute(
    "aria-sort",
    "ascending",
  );
  await rows.getByRole("button", { name: "36: pick this row" }).click();
  await look(page, "rows-picked");
  await page.getByRole("link", { name: "What if", exact: true }).click();
  await expect(page.getByRole("button", { name: "run 36" })).toBeVisible();
});

test("an experiment on a table: which run next, what came out, failures, and the end", async ({
  page,
}) => {
  await begin(page, "sweep again.csv", sweep(), { gflops: "outcome", power_w: "outcome" });
  await page.getByRole("link", { name: "Experiments" }).click();
  await page
    .getByRole("combobox", { name: "What can be set, as in" })
    .selectOption("sweep again.csv");
  await page.getByRole("combobox", { name: "Goal", exact: true }).selectOption("maximize");
  await page.getByRole("textbox", { name: "Name" }).fill("find the best");
  await page.getByRole("textbox", { name: "Runs in all" }).fill("12");
  await look(page, "experiment-new");
  await page.getByRole("button", { name: "Begin", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "find the best" })).toBeVisible();

  await page.getByRole("button", { name: "Which run next?" }).click();
  const first = page.getByRole("form", { name: "Run 1" });
  await first.getByRole("textbox", { name: "gflops" }).fill("12.5");
  await first.getByRole("button", { name: "Tell" }).click();
  await expect(first).toHaveCount(0);
  await expect(page.getByRole("region", { name: "The best so far" })).toContainText("gflops 12.5");
  await page.getByRole("button", { name: "Four at once" }).click();
  const second = page.getByRole("form", { name: "Run 2" });
  await second.getByRole("textbox", { name: "or why it failed" }).fill("out of memory");
  await look(page, "experiment");
  await second.getByRole("button", { name: "Tell" }).click();
  await expect(page.getByRole("tab", { name: "Failures (1)" })).toBeVisible();
  await page.getByRole("button", { name: "Stop waiting for 3 runs" }).click();
  await expect(page.getByRole("region", { name: "Runs to make now" })).toHaveCount(0);
  for (const tab of ["Learning curve", "Predicted and measured", "Failures (1)"]) {
    await page.getByRole("tab", { name: tab }).click();
    await drawn(page);
  }
  await expect(page.getByRole("region", { name: "Runs of the experiment" })).toContainText(
    "out of memory",
  );
});

test("answers have names, and stand beside each other", async ({ page }) => {
  await page.goto(HOME);
  await page.getByRole("link", { name: "Ask now" }).click({ timeout: LEARNING });
  for (const more of ["spmv", "stencil"]) {
    await say(
      page,
      `recommend threads and schedule to minimize runtime_ms where kernel is ${more}`,
    );
    await ask(page, LEARNING);
    await say(page, "start over");
  }
  await page.getByRole("link", { name: "History" }).click();
  const [one, other] = [/spmv/, /stencil/].map((name) =>
    page.getByRole("listitem").filter({ hasText: name }),
  );
  if (one === undefined || other === undefined) throw new Error("no answers");
  await one.getByRole("button", { name: "Give it a name" }).click();
  await page.getByRole("textbox", { name: "Name of the answer" }).fill("for the paper");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("link", { name: "for the paper" })).toBeVisible();
  await one.getByRole("checkbox").check();
  await other.getByRole("checkbox").check();
  const beside = page.getByRole("region", { name: "Answers beside each other" });
  await expect(beside).toContainText("runtime_ms (expected)");
  await look(page, "history-compared");
});

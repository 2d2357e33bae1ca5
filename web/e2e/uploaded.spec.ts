/** The three journeys on a table that somebody brings, as in Figure 6 of the paper. */
import { expect, HOME, look, test } from "./look";
import { answered, ask, bring, drawn, say } from "./person";
import { jobs } from "./tables";

test.setTimeout(420_000);
const LEARNING = 240_000; // ms that learning an outcome may take on a busy machine

test("bring a table, drop columns, say a rule, learn, and ask all three", async ({ page }) => {
  await page.goto(HOME);
  await bring(page, "ft perf variation.csv", jobs(240));
  await expect(
    page.getByRole("heading", { level: 1, name: "ft perf variation.csv" }),
  ).toBeVisible();

  // What is not sure is asked, and settled by a click.
  const check = page.getByRole("region", { name: "Please check" });
  await expect(check).toContainText("ipath_0: an outcome (stands beside energy), or a knob");
  await check.getByRole("button", { name: "ipath_0 is knob" }).click();
  await expect(check).not.toContainText("ipath_0:");
  await expect(page.getByRole("combobox", { name: "Role of ipath_0" })).toHaveValue("knob");

  // One role for all columns that the filter shows.
  await page.getByRole("textbox", { name: "Find a column" }).fill("ipath");
  await page.getByRole("combobox", { name: "Set all 2 shown to" }).selectOption("context");
  await expect(page.getByRole("combobox", { name: "Role of ipath_0" })).toHaveValue("context");
  await expect(check).toBeHidden();
  await page.getByRole("textbox", { name: "Find a column" }).fill("");

  // Columns that mean nothing are dropped, as the paper's user does.
  await page.getByRole("checkbox", { name: "Use ipath_0" }).uncheck();
  await page.getByRole("checkbox", { name: "Use ipath_1" }).uncheck();
  await expect(page.getByText(/Dropped 2 columns: ipath_0, ipath_1/)).toBeVisible();
  await page.getByRole("combobox", { name: "Role of energy" }).selectOption("outcome");
  await page.getByRole("combobox", { name: "Role of runtime" }).selectOption("outcome");
  // Between the numbers of nodes that were tried there are others.
  await page.getByRole("button", { name: /^legal: 1, 2, 4, 8 – legal values of nodes/ }).click();
  const legal = page.getByRole("textbox", { name: "Legal values of nodes" });
  await legal.fill("1..few");
  await legal.press("Enter");
  await expect(page.getByText("“few” is no number.")).toBeVisible();
  await legal.fill("1..8:1");
  await look(page, "legal");
  await legal.press("Enter");
  await expect(page.getByRole("button", { name: /^legal: whole 1..8/ })).toBeVisible();
  await expect(page.getByText("✓ Saved")).toBeVisible();
  await look(page, "columns");

  await page.getByRole("tab", { name: /^Rows/ }).click();
  await expect(page.getByRole("cell", { name: "comd" }).first()).toBeVisible();
  await look(page, "rows");

  // A rule comes with the number of runs that break it.
  await page.getByRole("tab", { name: /^Rules/ }).click();
  await page.getByRole("textbox", { name: /rule/i }).fill("nodes * num_threads <= 128");
  await expect(page.getByText(/\d+ (runs|rows) break/)).toBeVisible();
  await look(page, "rules");
  await page.getByRole("button", { name: /^Add/ }).first().click();
  await expect(page.getByRole("tab", { name: "Rules (1)" })).toBeVisible();

  // A reload loses nothing.
  await page.reload();
  await expect(page.getByRole("tab", { name: "Rules (1)" })).toBeVisible();
  await expect(page.getByRole("checkbox", { name: "Use ipath_0" })).not.toBeChecked();

  // Nothing is learnt before it is needed: one asks at once. Tuning makes it last, to be seen.
  await page.getByRole("button", { name: /Advanced/ }).click();
  await page.getByLabel("Seconds for better settings").fill("4");
  await page.getByRole("button", { name: /^Learn/ }).click();
  await expect(page.getByRole("heading", { level: 1, name: /^Ask about/ })).toBeVisible();
  await expect(page.getByText(/runtime.*: learnt when a question first needs them/)).toBeVisible();

  // Recommend, in the words of the paper's Figure 5.
  await say(page, "Minimize runtime.");
  await say(page, "Number of threads and thread binding algorithm.");
  await expect(page.getByRole("log")).toContainText("Do you mean these two parameters?");
  await look(page, "do-you-mean");
  await say(page, "yes");
  await say(page, "The system has less than 8 nodes. So keep it under that value.");
  await expect(page.getByRole("button", { name: /nodes/ }).first()).toBeVisible();
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await expect(page.getByText(/^learning runtime/)).toBeVisible();
  await look(page, "learning");
  await answered(page, LEARNING);
  await expect(page.getByText(/off by .* in runtime/).first()).toBeVisible();
  // By the law that made the table, the most threads spread out are the fastest.
  await expect(
    page.getByRole("heading", { name: /^Use num_threads = 32, thread_affinity = spread/ }),
  ).toBeVisible();

  // Reconfigure a run of it.
  await say(page, "start over");
  await say(
    page,
    "reconfigure row 3 to reduce runtime by 20%, changing only num_threads and nodes",
  );
  await expect(page.getByRole("button", { name: "Ask", exact: true })).toBeEnabled();
  await ask(page);
  await expect(page.getByRole("region", { name: /^Changes/ })).toBeVisible();

  // And what if.
  await say(page, "start over");
  await say(page, "what if num_threads doubles in row 3, what happens to runtime and energy?");
  await ask(page, LEARNING);
  await expect(page.getByRole("heading", { name: /^With num_threads/ })).toBeVisible();
  await drawn(page);

  // What was measured is told, and the question is asked again of the engine that knows it.
  await page.getByRole("button", { name: "Enter measured results" }).click();
  const results = page.getByRole("form", { name: "Measured results" });
  await results.getByRole("button", { name: "Add a run" }).click();
  await results
    .getByLabel(/^runtime/)
    .first()
    .fill("12.5");
  await results
    .getByLabel(/^energy/)
    .first()
    .fill("a lot");
  await results.getByRole("button", { name: "Give back 1 run" }).click();
  await expect(results.getByText(/number/i).first()).toBeVisible();
  await results
    .getByLabel(/^energy/)
    .first()
    .fill("2100");
  await look(page, "results");
  await results.getByRole("button", { name: "Give back 1 run" }).click();
  await page.getByRole("button", { name: "Ask again with these runs" }).click({ timeout: 120_000 });
  await expect(page.getByRole("heading", { name: /^With num_threads/ })).toBeVisible();
  // The table shows what was learnt of it.
  await page.getByRole("link", { name: /^24\d past runs$/ }).click();
  await expect(page.getByRole("row", { name: /runtime/ }).getByText("✓ learnt")).toBeVisible();
  await page.goto(`${HOME}/#/history`);
  await expect(page.getByText(/what if/i).first()).toBeVisible();
  await look(page, "history");
});

/** The three journeys on the data that comes with Compass. */
import type { Page } from "@playwright/test";
import { expect, HOME, look, test } from "./look";
import { ask, drawn, say } from "./person";

const READY = 240_000; // the engine that is offered is fitted once, in the background
test.setTimeout(420_000);

async function begin(page: Page): Promise<void> {
  await page.goto(HOME);
  await page.getByRole("link", { name: "Ask now" }).click({ timeout: READY });
  await expect(page.getByRole("log")).toContainText("Hello");
}

test("recommend: from the first page to a job script", async ({ page, browser }) => {
  await page.goto(HOME);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await look(page, "home");
  await page.getByRole("button", { name: /^Recommend/ }).click();
  await page.getByRole("link", { name: "Ask now" }).click({ timeout: READY });

  // What is missing is asked for, one part after the other.
  await expect(page.getByRole("log")).toContainText("What is your objective?");
  await say(page, "minimize the runtime");
  await expect(page.getByRole("log")).toContainText("Which parameters");
  await look(page, "asked-back");
  await say(page, "number of threads and the schedule");
  await expect(page.getByRole("log")).toContainText("Do you mean");
  await say(page, "yes");
  await expect(page.getByRole("log")).toContainText("constraints");
  await say(page, "the kernel is spmv");
  await expect(page.getByRole("button", { name: "kernel is spmv" })).toBeVisible();
  await look(page, "confirm");
  await ask(page);

  const told = page.getByRole("heading", { name: /^Use threads = / });
  await expect(told).toBeVisible();
  await expect(page.getByRole("table", { name: "Suggestions" }).getByRole("row")).toHaveCount(4);
  await drawn(page);
  await look(page, "answer");

  // Evidence, from the badge, and back by Escape.
  await page
    .getByRole("button", { name: /suggestion 1: open the evidence/ })
    .first()
    .click();
  const drawer = page.getByRole("dialog");
  for (const part of [/novelty/i, /uncertainty/i, /expected error/i])
    await expect(drawer.getByText(part).first()).toBeVisible();
  const runs = drawer.getByRole("region", { name: "Table of supporting runs" });
  await expect(
    runs.getByRole("link", { name: /^Reconfigure this run: row \d+$/ }).first(),
  ).toHaveAttribute("href", /#\/ask\/[0-9a-f]+\?run=\d+&begin=reconfigure$/);
  await drawn(page);
  await look(page, "evidence");
  await page.keyboard.press("Escape");
  await expect(drawer).toBeHidden();

  // A job script to take away.
  await expect(page.getByText("#SBATCH --cpus-per-task")).toBeVisible();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: /^Download compass-.*\.sh/ }).click();
  expect((await downloading).suggestedFilename()).toMatch(/\.sh$/);

  // The question in the address repeats the answer, in a browser that has never been here; but it
  // is asked by a person and not by the link, whatever that says.
  const link = page.url().replace(/chat=[^&]*&/, "");
  const stranger = await browser.newPage();
  const sent: string[] = [];
  stranger.on("request", (one) => sent.push(`${one.method()} ${new URL(one.url()).pathname}`));
  await stranger.goto(`${link}&run=1`);
  await expect(stranger.getByRole("button", { name: "kernel is spmv" })).toBeVisible();
  await expect(stranger.getByRole("button", { name: "Ask", exact: true })).toBeEnabled();
  await expect(stranger).toHaveURL(/chat=/);
  expect(sent.filter((one) => /messages|answers/.test(one))).toEqual([]);
  await ask(stranger);
  await expect(
    stranger.getByRole("heading", { name: (await told.textContent()) ?? "" }),
  ).toBeVisible();
  await stranger.close();

  // A job script of one's own stays, whatever one looks at.
  await page.getByText("Use a job script of your own").click();
  await page.getByLabel("Your script").fill("srun -n {threads}");
  await page.getByRole("table", { name: "Suggestions" }).getByRole("row").nth(2).click();
  await expect(page.getByLabel("Your script")).toHaveValue("srun -n {threads}");
  await page.reload();
  await expect(page.getByLabel("Your script")).toHaveValue("srun -n {threads}");

  // What the best run has and the question leaves open is asked for too.
  await page.getByRole("button", { name: /^Ask for .*unroll.* too$/ }).click();
  await expect(page.getByRole("button", { name: "unroll", exact: true })).toBeVisible();
});

test("reconfigure: the same question as sentence, form and text", async ({ page }) => {
  await begin(page);
  await page.getByRole("button", { name: /^Reconfigure a run/ }).click();
  await page.getByText("As text", { exact: true }).click();
  await page
    .getByLabel("In the query language")
    .fill(
      "Reconfigure X = {threads: ?, tile: ?, flags: ?} to achieve Y = {runtime_ms: reduce by 30%} from row 53",
    );
  await page.getByRole("button", { name: "Use this text" }).click();
  await page.getByText("As a form", { exact: true }).click();
  await expect(page.getByLabel("Number of the run")).toHaveValue("53");
  await look(page, "form");
  await page.getByLabel("Suggestions", { exact: true }).fill("5");
  // Faster, and no fewer operations per second than now: more of them are as welcome.
  await page.getByRole("button", { name: "Add an outcome" }).click();
  for (const [field, choice] of [
    ["Outcome", "gflops"],
    ["Should", "no less than now"],
  ] as const) {
    await page.getByRole("combobox", { name: field, exact: true }).last().click();
    // The list of the field: the overview behind it has choices of the same names.
    await page
      .getByRole("listbox", { name: field })
      .getByRole("option", { name: choice, exact: true })
      .click();
  }
  await page.getByText("Sentence", { exact: true }).click();
  await expect(page.getByRole("button", { name: "gflops no less than now" })).toBeVisible();
  await expect(page.getByRole("button", { name: /5 suggestions/ })).toBeVisible();
  await expect(page).toHaveURL(/top\+5/);
  await ask(page);
  await expect(
    page.getByRole("table", { name: "Suggestions" }).getByRole("row").nth(1),
  ).toBeVisible();
  await drawn(page);
  await expect(
    page.getByText(/likely, 80\s% asked for; reduce by 30\s%, measured against/),
  ).toBeVisible();
  await look(page, "reconfigured");
  await page.reload();
  await expect(
    page.getByRole("table", { name: "Suggestions" }).getByRole("row").nth(1),
  ).toBeVisible();

  // What certainty costs: the same question with another chance is asked by one click.
  await page.getByRole("button", { name: "Ask with 95 %" }).click();
  await expect(page.getByRole("button", { name: "95 %", exact: true })).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: "Answered below" })).toBeVisible();
  await expect(page.getByText(/likely, 95\s% asked for/).first()).toBeVisible();
});

test("what-if: curves that grey out beyond the data, and plots of the past runs", async ({
  page,
}) => {
  await begin(page);
  await say(page, "what if threads becomes 2 in row 53, how does that change runtime_ms?");
  await ask(page);
  await expect(page.getByRole("heading", { name: /^With threads from 1 to 2/ })).toBeVisible();
  for (const tab of ["What-if", "Past runs"]) {
    await page.getByRole("tab", { name: tab }).click();
    await drawn(page);
    await look(page, `plot-${tab.toLowerCase().replace(/ /g, "-")}`);
  }
});

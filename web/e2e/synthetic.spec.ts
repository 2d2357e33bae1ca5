/** Rows like those of tables that the page has never seen: drawn on conditions, filled in, checked. */
import { expect, expectErrors, HOME, look, test } from "./look";
import { choose, drawn } from "./person";
import { solver, sweep } from "./tables";

test.setTimeout(420_000);
const WORKING = 240_000; // ms that work may take on a busy machine

test("learn a table, draw rows on conditions, and check them", async ({ page }) => {
  expectErrors(page, /status of 422/);
  await page.goto(`${HOME}/#/synthetic`);
  await choose(page, "Bring a table", "solver to imitate.csv", solver(160, 5));
  await page.getByRole("button", { name: "Learn this table" }).click({ timeout: WORKING });
  await expect(
    page.getByRole("heading", { level: 1, name: "Rows like solver to imitate.csv" }),
  ).toBeVisible({ timeout: WORKING });
  const on = page.getByRole("textbox", { name: "On conditions" });
  await on.fill("`mpi ranks` >= 16\nprecond == 'gold'");
  await page.getByRole("button", { name: "Draw rows" }).click();
  await expect(page.getByRole("alert")).toContainText("gold", { timeout: WORKING });
  await on.fill("`mpi ranks` >= 16\ngrid == 'large'");
  await page.getByRole("button", { name: "Draw rows" }).click();
  await expect(page.getByRole("heading", { name: /^200 rows/ })).toBeVisible({ timeout: WORKING });
  const rows = page.getByRole("region", { name: "Synthetic rows" });
  await expect(rows.getByRole("cell", { name: "large" })).toHaveCount(100);
  await expect(rows.getByRole("cell", { name: "small" })).toHaveCount(0);
  await look(page, "synthetic-rows");
  await on.fill("");
  await page.getByRole("button", { name: "Draw other rows" }).click();
  await page.getByRole("button", { name: "Check these rows" }).click({ timeout: WORKING });
  const report = page.getByRole("region", { name: "Check report" });
  await expect(report.getByText("Can a program tell them from real rows?")).toBeVisible({
    timeout: WORKING,
  });
  await expect(report.getByText(/^two-sample AUC .*, real rows among themselves/)).toBeVisible();
  await report.getByText("All measures").click();
  await drawn(page);
  await look(page, "synthetic-check");
});

test("the empty cells of a table are filled in, with a copula", async ({ page }) => {
  await page.goto(`${HOME}/#/synthetic`);
  await choose(page, "Bring a table", "sweep to imitate.csv", sweep());
  await page.getByText("How it is learnt").click();
  await page.getByRole("combobox", { name: "Kind" }).selectOption("copula");
  await page.getByRole("button", { name: "Learn this table" }).click({ timeout: WORKING });
  await page.getByRole("tab", { name: "Fill in cells" }).click({ timeout: WORKING });
  const gaps = "unroll,vector,prefetch,gflops,power_w\n4,256,,,\n8,,2,,\n1,128,0,3.0,48.0\n";
  const tab = page.getByRole("tabpanel", { name: "Fill in cells" });
  const choosing = page.waitForEvent("filechooser");
  await tab.getByRole("button", { name: "Bring a table" }).click();
  await (await choosing).setFiles({
    name: "with gaps.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(gaps),
  });
  await tab.getByRole("button", { name: "Fill in", exact: true }).click({ timeout: WORKING });
  await expect(tab.getByRole("heading", { name: /^6 cells in 2 rows were filled in/ })).toBeVisible(
    { timeout: WORKING },
  );
  const rows = tab.getByRole("region", { name: "Synthetic rows" });
  await expect(rows.getByRole("row").nth(3)).toContainText("128");
  await look(page, "synthetic-filled");
  await page.getByRole("link", { name: "‹ All learnt tables" }).click();
  await page
    .getByRole("button", { name: "Delete what was learnt from sweep to imitate.csv" })
    .click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByRole("link", { name: "sweep to imitate.csv" })).toHaveCount(0);
});

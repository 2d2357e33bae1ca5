/** Runs on several machines that the page has never seen: which machine, in which order, how sure. */
import { expect, expectErrors, HOME, look, test } from "./look";
import { choose } from "./person";
import { cards, roofline, sweep } from "./tables";

test.setTimeout(420_000);
const WORKING = 240_000; // ms that work may take on a busy machine

test("a program that was measured on one machine, on all of them", async ({ page }) => {
  await page.goto(`${HOME}/#/machines`);
  await expect(page.getByRole("heading", { level: 1, name: "Machines" })).toBeVisible();
  await choose(page, "Bring runs", "three machines.csv", roofline());
  await page.getByRole("combobox", { name: "Application" }).selectOption("mycode");
  await expect(page.getByRole("combobox", { name: "Measured on" })).toHaveValue("opal");
  await page.getByText("Prices and power of the machines").click();
  await page.getByRole("textbox", { name: "Price of topaz" }).fill("30");
  await page.getByRole("textbox", { name: "Price of opal" }).fill("1");
  await page.getByRole("button", { name: "Compare the machines" }).click();

  // By the law of the table: eight times the bandwidth, seven times the operations.
  const which = page.getByRole("region", { name: "Which machine" });
  await expect(which.getByRole("heading", { name: /^Run it on topaz: / })).toBeVisible({
    timeout: WORKING,
  });
  await expect(which).toContainText("opal costs least");
  const order = page.getByRole("region", { name: "Machines in their order" });
  await expect(order.getByRole("row").nth(1)).toContainText("topaz");
  await expect(order.getByRole("row").nth(3)).toContainText("opal");
  await expect(order.getByRole("row").nth(3)).toContainText("measured");
  await page.getByText("What this rests on").click();
  await expect(page.getByRole("region", { name: "Past runs that are most alike" })).toBeVisible();
  await look(page, "machines");
  await which.getByRole("combobox", { name: "Which run of mycode" }).selectOption("size = 4");
  await expect(which.getByRole("heading", { name: /^Run it on topaz: / })).toBeVisible();
});

test("two cards without counters, and a table of no machines", async ({ page }) => {
  expectErrors(page, /status of 4\d\d/);
  await page.goto(`${HOME}/#/machines`);
  await choose(page, "Bring runs", "two cards.csv", cards());
  await page.getByRole("combobox", { name: "Application" }).selectOption("sort");
  await page.getByRole("combobox", { name: "Measured on" }).selectOption("H100");
  await page.getByRole("button", { name: "Compare the machines" }).click();
  const which = page.getByRole("region", { name: "Which machine" });
  await expect(which.getByRole("heading", { name: /^Stay on H100/ })).toBeVisible({
    timeout: WORKING,
  });
  await choose(page, "Bring runs", "no machines.csv", sweep());
  await expect(page.getByRole("alert")).toContainText("several machines");
  await look(page, "machines-none");
});

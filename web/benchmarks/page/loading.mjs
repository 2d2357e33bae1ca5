/** What comes over the connection, and when something is to be seen. */
import { drawnOn, visit } from "./watch.mjs";

/** First load of `/`, then one step further at a time; bytes are those that each step adds. */
export async function loading(browser, place) {
  const steps = [];
  const { page, bytes, close } = await visit(browser, place);
  const useful = page.getByRole("heading", { level: 1 });
  await useful.waitFor();
  const seen = await page.evaluate(() => performance.now());
  const paint = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
  );
  await page.waitForLoadState("networkidle");
  steps.push({ name: "first load of /", ...bytes() });
  const further = async (name, act) => {
    await act();
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(700);
    steps.push({ name, ...bytes() });
  };
  const to = (hash) => page.evaluate((given) => location.assign(given), hash);
  await further("the page of questions", async () => {
    await to(`#/ask/${place.engine}`);
    await page.getByRole("log").waitFor();
  });
  await further("an answer", async () => {
    await to(`#/answer/${place.answer}`);
    await page.getByRole("table", { name: "Suggestions" }).waitFor();
  });
  await further("plot of past runs", async () => {
    await page.getByRole("tab", { name: "Past runs" }).scrollIntoViewIfNeeded();
    await page.locator("canvas").first().waitFor();
    await drawnOn(page);
  });
  for (const tab of ["Side by side", "What-if"])
    await further(`plot: ${tab}`, async () => {
      await page.getByRole("tab", { name: tab }).click();
      await page.locator("canvas").first().waitFor();
      await drawnOn(page);
    });
  await close();
  return { steps, paint, seen };
}

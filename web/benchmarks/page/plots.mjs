/** Using the plots, with as many past runs and suggestions as there can be. */
import { drawnOn, during, now, visit } from "./watch.mjs";

/** The answer with one of its plots in sight. */
async function opened(browser, place, tab, record, name) {
  const { page, close } = await visit(browser, place, `#/answer/${place.answer}`);
  await page.getByRole("table", { name: "Suggestions" }).waitFor();
  await page.waitForTimeout(1500);
  // Code and runs come when a plot is in sight; the clock starts there.
  const drawing = await during(page, async () => {
    const began = await now(page);
    const found = page.getByRole("tab", { name: tab });
    if (tab === "Past runs") await found.scrollIntoViewIfNeeded();
    else await found.click();
    await page.locator("canvas").first().waitFor({ timeout: 120_000 });
    await page.waitForFunction(() => !/Loading the past runs/.test(document.body.textContent));
    return (await drawnOn(page)) - began;
  });
  record(name, drawing);
  const canvas = page.locator("canvas").first();
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  const point = (x, y) => [box.x + box.width * x, box.y + box.height * y];
  return { page, close, box, point };
}

export async function pastRuns(browser, place, record) {
  const name = "past runs: until drawn";
  const { page, close, point } = await opened(browser, place, "Past runs", record, name);
  const points = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter((one) => one.name.includes("/points"))
      .reduce((most, one) => Math.max(most, one.duration), 0),
  );
  record("past runs: of that, the server", { ms: points });
  record(
    "past runs: point at marks",
    await during(page, async () => {
      for (let i = 0; i <= 80; i += 1)
        await page.mouse.move(...point(0.1 + 0.8 * (i / 80), 0.5 + 0.35 * Math.sin(i / 6)));
    }),
  );
  record(
    "past runs: zoom by wheel",
    await during(page, async () => {
      await page.mouse.move(...point(0.5, 0.5));
      await page.keyboard.down("Control");
      for (let i = 0; i < 20; i += 1) await page.mouse.wheel(0, i < 12 ? -60 : 60);
      await page.keyboard.up("Control");
      await drawnOn(page, 200);
    }),
  );
  record("past runs: move", await during(page, () => dragged(page, point, [0.6, 0.5])));
  await close();
}

async function dragged(page, point, [x, y]) {
  await page.mouse.move(...point(x, y));
  await page.mouse.down();
  for (let i = 0; i <= 60; i += 1)
    await page.mouse.move(...point(x - 0.3 * Math.sin(i / 10), y + 0.2 * Math.sin(i / 7)));
  await page.mouse.up();
  await drawnOn(page, 200);
}

export async function sideBySide(browser, place, record) {
  const name = "side by side: until drawn";
  const { page, close, box } = await opened(browser, place, "Side by side", record, name);
  const x = box.x + 56;
  record(
    "side by side: mark a part",
    await during(page, async () => {
      await page.mouse.move(x, box.y + 100);
      await page.mouse.down();
      for (let i = 0; i <= 60; i += 1) await page.mouse.move(x, box.y + 110 + 3 * i);
      await page.mouse.up();
      await drawnOn(page, 200);
    }),
  );
  record(
    "side by side: point at lines",
    await during(page, async () => {
      for (let i = 0; i <= 60; i += 1)
        await page.mouse.move(
          box.x + 80 + (box.width - 200) * (i / 60),
          box.y + 200 + 80 * Math.sin(i / 5),
        );
    }),
  );
  await close();
}

export async function whatIf(browser, place, record) {
  const name = "what-if: until drawn";
  const { page, close } = await opened(browser, place, "What-if", record, name);
  const thumb = page.getByRole("slider", { name: "threads" });
  await thumb.scrollIntoViewIfNeeded();
  const box = await thumb.boundingBox();
  const y = box.y + box.height / 2;
  let released = 0;
  record(
    "what-if: drag a slider",
    await during(page, async () => {
      await page.mouse.move(box.x + box.width / 2, y);
      await page.mouse.down();
      for (let i = 1; i <= 60; i += 1) await page.mouse.move(box.x + 90 * Math.sin(i / 9), y);
    }),
  );
  const answered = page.waitForResponse((one) => one.url().endsWith("/curves"));
  record(
    "what-if: release until new curves",
    await during(page, async () => {
      released = await now(page);
      await page.mouse.up();
      await (await answered).finished();
      return (await drawnOn(page)) - released;
    }),
  );
  await close();
}

/** Using an answer with very many suggestions: its table, its evidence, typing beside it. */
import { during, visit } from "./watch.mjs";

const KEYS = 60;
const PAUSE = 33; // ms

export async function usingTheTable(browser, place, record) {
  const { page, close } = await visit(browser, place, `#/answer/${place.answer}`);
  const table = page.getByRole("region", { name: "Table of suggestions" });
  await table.getByRole("row").nth(3).waitFor();
  await page.waitForTimeout(1500);
  const box = await table.boundingBox();
  await page.mouse.move(box.x + 300, box.y + 200);
  record(
    "table: scroll",
    await during(page, async () => {
      for (let i = 0; i < 90; i += 1) await page.mouse.wheel(0, i < 60 ? 160 : -160);
    }),
  );
  await table.getByRole("radio").first().focus();
  await page.keyboard.press("Home");
  await page.waitForTimeout(500);
  record("table: walk by arrow keys", await during(page, () => keys(page, () => "ArrowDown")));
  for (const column of ["energy (J)", "threads", "Trust"])
    record(
      "table: sort by a column",
      await during(page, async () => {
        await page.getByRole("button", { name: `${column}: sort` }).click();
        await page.waitForTimeout(300);
      }),
    );
  const badge = table.getByRole("button", { name: /open the evidence/ });
  record(
    "evidence: open and close",
    await during(page, async () => {
      await badge.nth(2).click();
      await page.getByRole("dialog").getByRole("heading", { name: "Contributions" }).waitFor();
      await page.waitForTimeout(600);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "hidden" });
    }),
  );
  await close();
}

/** The page of questions, with the same answer below. */
export async function typing(browser, place, record) {
  const asked = new URLSearchParams({ q: place.text, run: "1" });
  const { page, close } = await visit(browser, place, `#/ask/${place.engine}?${asked}`);
  const table = page.getByRole("table", { name: "Suggestions" });
  await table.waitFor({ timeout: 120_000 });
  await page.waitForTimeout(2000);
  await page.getByRole("textbox", { name: "Say it in your own words" }).focus();
  const words = "what is the best number of nodes for a run within the hour and how much does";
  record("type in the conversation", await during(page, () => keys(page, (i) => words[i])));
  await page.getByText("As a form", { exact: true }).click();
  await page.getByRole("textbox", { name: "Suggestions", exact: true }).focus();
  const digits = (i) => (i % 4 === 3 ? "Backspace" : String((i % 9) + 1));
  record("type in a field of the form", await during(page, () => keys(page, digits, 40)));
  await close();
}

/** As quick as a key that is held down repeats. */
async function keys(page, of, count = KEYS) {
  for (let i = 0; i < count; i += 1) {
    await page.keyboard.press(of(i) === " " ? "Space" : of(i));
    await page.waitForTimeout(PAUSE);
  }
  await page.waitForTimeout(300);
}

/** What people do besides the three journeys: marks on plots, files to take along, data and models from elsewhere. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, HOME, look, test } from "./look";
import { ask, bring, choose, drawn, own, say } from "./person";
import { EMBEDDED, PYTHON } from "./server";
import { jobs } from "./tables";

test.setTimeout(420_000);

test("a part of an axis that is marked becomes a rule of the question", async ({ page }) => {
  await own(page, [], async (url) => {
    await page.goto(url);
    await page.getByRole("link", { name: "Ask now" }).click();
    await say(page, "recommend num_threads and nodes to minimize runtime");
    await ask(page);
    await page.getByRole("tab", { name: "Side by side" }).click();
    await drawn(page);
    const plot = page.getByRole("img", { name: /^Parallel coordinates of/ });
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    if (box === null) throw new Error("the plot is not drawn");
    // The first axis stands at the left, with 4, 8, 16 and 32 threads; its middle half is marked.
    const x = box.x + 56;
    await page.mouse.move(x, box.y + box.height * 0.3);
    await page.mouse.down();
    await page.mouse.move(x, box.y + box.height * 0.5);
    await page.mouse.move(x, box.y + box.height * 0.75);
    await page.mouse.up();
    const rules = page.getByRole("group", { name: "Rules from the marked parts" });
    await expect(rules).toBeVisible();
    await look(page, "marked");
    // Drawn anew in other colours and sizes, it is still marked: left of the axis is nothing else.
    const marked = () =>
      plot.evaluate((place) =>
        [...place.querySelectorAll("canvas")].some((one) => {
          const at = [48, one.clientHeight / 2].map((px) => (px * one.width) / one.clientWidth);
          const drawing = one.getContext("2d")?.getImageData(at[0] ?? 0, at[1] ?? 0, 1, 1);
          return (drawing?.data[3] ?? 0) > 0;
        }),
      );
    await expect.poll(marked).toBe(true);
    for (const rule of ["num_threads >= 8", "num_threads <= 16"])
      await expect(rules.getByText(rule)).toBeVisible();
    await rules.getByRole("button", { name: "Add to the question" }).click();
    await ask(page);
    await page.getByText("As text", { exact: true }).click();
    await expect(page.getByLabel("In the query language")).toHaveValue(
      /where C = \{num_threads >= 8, num_threads <= 16\}/,
    );

    // The answer in every form in which it can be taken along.
    for (const [tab, part] of [
      ["CSV", /"num_threads","predicted_runtime"/],
      ["JSON", /"suggestions"/],
      ["Python", /import compass as cp/],
      ["Job script", /#SBATCH --cpus-per-task=/],
    ] as const) {
      await page.getByRole("tab", { name: tab, exact: true }).click();
      await expect(page.getByRole("tabpanel", { name: tab, exact: true })).toContainText(part);
    }

    // Results that were written into a file are given back as one.
    await page.getByRole("button", { name: "Enter measured results" }).click();
    await choose(page, "Give back a table", "measured.csv", jobs(6, 99));
    await expect(page.getByRole("heading", { name: /^6 new runs taken in/ })).toBeVisible({
      timeout: 120_000,
    });
  });
});

test("a file on the server, with a model of one's own", async ({ page }) => {
  await page.goto(HOME);
  await page.getByLabel("A file or folder on the server").fill(join(EMBEDDED, "kernels.csv"));
  await page.getByRole("button", { name: "Use it" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "kernels.csv" })).toBeVisible();
  await page.getByRole("link", { name: "All data" }).click();

  await bring(page, "jobs.csv", jobs(120));
  await expect(page.getByRole("heading", { level: 1, name: "jobs.csv" })).toBeVisible();
  await page.getByRole("combobox", { name: "Role of nodes" }).selectOption("knob");
  await page.getByRole("combobox", { name: "Role of runtime" }).selectOption("outcome");
  for (const other of ["energy", "ipath_0", "ipath_1"])
    await page.getByRole("checkbox", { name: `Use ${other}` }).uncheck();
  await page.getByRole("button", { name: /Advanced/ }).click();
  await choose(page, "Upload a model", "mine.txt", halving());
  await expect(page.getByLabel("Model of runtime")).toContainText("mine.txt");
  await expect(page.getByLabel("Model of runtime")).not.toHaveValue("");
  await look(page, "own-model");
  await page.getByRole("button", { name: /^Learn/ }).click();
  await expect(page.getByRole("heading", { level: 1, name: /^Ask about/ })).toBeVisible({
    timeout: 240_000,
  });
  await say(page, "what if num_threads becomes 32 in row 0, what happens to runtime?");
  await ask(page);
  await expect(page.getByRole("table", { name: "Suggestions" })).toContainText("7.25");
});

/** A model that somebody has trained elsewhere: with more than 8 threads it says 7.25, else 14.5. */
function halving(): string {
  const folder = mkdtempSync(join(tmpdir(), "compass-model-"));
  const file = join(folder, "mine.txt");
  const program = `
import lightgbm, numpy, sys
X = numpy.array([[1.0, t] for t in (4, 8, 16, 32) for _ in range(50)])
y = numpy.where(X[:, 1] > 8, 7.25, 14.5)
settings = {"verbose": -1, "learning_rate": 1.0, "objective": "regression", "num_threads": 1}
data = lightgbm.Dataset(X, y, feature_name=["nodes", "num_threads"])
lightgbm.train(settings, data, 1).save_model(sys.argv[1])`;
  try {
    execFileSync(PYTHON, ["-c", program, file], { stdio: "pipe" });
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

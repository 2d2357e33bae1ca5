/** What goes wrong: each is told where it happens, with what to do, and nothing is lost. */
import { expect, expectErrors, HOME, look, test } from "./look";
import { ask, bring, drawn, own, say } from "./person";
import { jobs } from "./tables";

const REFUSED = /status of 4\d\d/; // what the server refuses is told by the browser, too
test.setTimeout(420_000);

test("a file that is no table is refused with a hint, and another one can be brought", async ({
  page,
}) => {
  expectErrors(page, REFUSED);
  await page.goto(HOME);
  await bring(page, "notes.txt", "these are notes");
  await expect(page.getByRole("alert").filter({ hasText: /csv/i }).first()).toBeVisible();
  await bring(page, "broken.parquet", "PAR1 and then nothing of the kind");
  await expect(
    page
      .getByRole("alert")
      .filter({ hasText: /parquet/i })
      .first(),
  ).toBeVisible();
  await look(page, "bad-file");
  await bring(page, "empty.csv", "");
  await expect(page.getByRole("alert").filter({ hasText: "empty.csv" })).toBeVisible();
  await bring(page, "fine.csv", jobs(30));
  await expect(page.getByRole("heading", { level: 1, name: "fine.csv" })).toBeVisible();
});

test("rules that contradict each other are named and can be taken back", async ({ page }) => {
  await own(page, [], async (url) => {
    await page.goto(url);
    await page.getByRole("link", { name: "Ask now" }).click();
    await say(page, "recommend num_threads to minimize runtime where nodes > 4");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByRole("button", { name: "Write it as text" }).click();
    await page.getByRole("textbox", { name: "Rule" }).fill("nodes < 2");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await expect(page.getByRole("button", { name: "Ask", exact: true })).toBeDisabled();
    await expect(page.getByText(/no configuration can obey/i).first()).toBeVisible();
    await look(page, "contradiction");
    await page.getByRole("button", { name: /^undo/i }).first().click();
    await expect(page.getByText(/I took the last change back/i)).toBeVisible();

    // A goal that nothing reaches: why, the nearest that can be reached, and what to measure.
    await say(page, "start over");
    await say(page, "recommend num_threads and nodes to get runtime below 0.001");
    // The answer is there before its proof, and before what to measure.
    let follow: () => void = () => undefined;
    const later = new Promise<void>((done) => {
      follow = done;
    });
    await page.route("**/answers/*/events", async (route) => {
      await later;
      await route.continue();
    });
    await ask(page);
    await expect(page.getByText(/^Being proved/)).toBeVisible();
    await expect(page.getByText(/would tell most is still worked out/)).toBeVisible();
    await expect(page.getByRole("region", { name: "What to measure first" })).toHaveCount(0);
    follow();
    await expect(page.getByRole("heading", { name: /cannot be reached/ })).toBeVisible();
    await expect(page.getByText(/^Being proved/)).toHaveCount(0);
    // It abstains: what comes closest is no suggestion, and there is no script to take along.
    const closest = page.getByRole("region", { name: "What comes closest" });
    await expect(closest).toContainText("< 1 % likely, 80 % asked for");
    await expect(page.getByRole("region", { name: "What to measure first" })).toBeVisible();
    await expect(page.getByRole("table", { name: "Suggestions" })).toHaveCount(0);
    await expect(page.getByRole("tab", { name: "Job script" })).toHaveCount(0);
    await expect(page.locator("[data-label=trusted]")).toHaveCount(0);
    const ideas = page.getByRole("region", { name: "Ideas to measure, not suggested" });
    await ideas.getByText("3 configurations").click();
    await expect(ideas.getByText(/^Not suggested: /)).toHaveCount(3);
    await drawn(page);
    await look(page, "no-answer");
    await ideas.getByRole("button", { name: "Evidence about idea 1" }).click();
    const drawer = page.getByRole("dialog");
    await expect(drawer.getByText(/Algorithm 1 as published/)).toBeVisible();
    await drawn(page);
    await look(page, "evidence-idea");
    await page.keyboard.press("Escape");

    // What to measure, as a job array for Slurm; and the nearest that can be reached, by a click.
    await page.getByText("As a job array (Slurm)").click();
    await expect(page.getByText(/sbatch --array=/).first()).toBeVisible();
    await page.getByRole("button", { name: /^Ask for runtime .* instead$/ }).click();
    await expect(page.getByRole("button", { name: /^runtime at most 2\d/ })).toBeVisible();
    await ask(page);
    await expect(page.getByRole("heading", { name: /^Use / })).toBeVisible();
    await expect(page.getByText(/meets runtime ≤/)).toBeVisible();
  });
});

test("a server that is killed in the middle comes back, and the page goes on", async ({ page }) => {
  expectErrors(page, /net::ERR_/);
  await own(page, [], async (url, server) => {
    await page.goto(url);
    await page.getByRole("link", { name: "Ask now" }).click();
    await say(page, "recommend num_threads to minimize runtime for ft");
    await server.kill();
    const box = page.getByRole("textbox", { name: "Say it in your own words" });
    await box.fill("and nodes at most 4");
    await box.press("Enter");
    await expect(page.getByText("The server cannot be reached").first()).toBeVisible();
    await look(page, "offline");
    await server.start();
    await expect(
      page.getByRole("status").filter({ hasText: "The server cannot be reached" }),
    ).toHaveCount(0);
    // What was typed is still there, and is said when the person wants it.
    await expect(box).toHaveValue("and nodes at most 4");
    await page.getByRole("button", { name: "Try again" }).click();
    await expect(page.getByRole("button", { name: /nodes/ }).first()).toBeVisible();
    await ask(page);
    await page.reload();
    await expect(page.getByRole("table", { name: "Suggestions" })).toBeVisible();
  });
});

test("on a slow network there is progress, and an upload can be cancelled", async ({ page }) => {
  expectErrors(page, /ERR_ABORTED/);
  const slow = await page.context().newCDPSession(page);
  await page.goto(HOME);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await slow.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 400,
    downloadThroughput: 60_000,
    uploadThroughput: 60_000,
  });
  await bring(page, "large.csv", jobs(20_000));
  await expect(page.getByRole("progressbar").first()).toBeVisible();
  await look(page, "uploading");
  // It goes on while one looks elsewhere.
  await page.getByRole("link", { name: "History" }).click();
  await expect(page.getByRole("heading", { level: 1, name: /history/i })).toBeVisible();
  await page.getByRole("link", { name: "Data", exact: true }).click();
  await expect(page.getByText("Uploading large.csv")).toBeVisible();
  await page
    .getByRole("button", { name: /^Cancel/ })
    .first()
    .click();
  await expect(page.getByRole("progressbar")).toHaveCount(0);
});

test("a part of the page that cannot be loaded is told, and the rest stays", async ({ page }) => {
  expectErrors(page, /status of 404/, /HistoryPage/);
  await page.route(/HistoryPage.*\.js/, (route) => route.fulfill({ status: 404 }));
  await page.goto(HOME);
  await page.getByRole("link", { name: "History" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "could not be loaded" })).toBeVisible();
  await look(page, "not-loaded");
  await page.getByRole("link", { name: "Data", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Choose your data" })).toBeVisible();
});

test("a server with a token asks for it once", async ({ page }) => {
  expectErrors(page, REFUSED);
  await own(page, ["--token", "a-token-of-the-test"], async (url) => {
    await page.goto(url);
    await expect(page.getByRole("heading", { name: "This server needs a token" })).toBeVisible();
    await look(page, "token");
    await page.getByLabel("Token").fill("wrong-token");
    await page.getByRole("button", { name: "Go on" }).click();
    await expect(page.getByRole("heading", { name: "This server needs a token" })).toBeVisible();
    await page.getByLabel("Token").fill("a-token-of-the-test");
    await page.getByRole("button", { name: "Go on" }).click();
    await expect(page.getByRole("heading", { name: "Choose your data" })).toBeVisible();
    await page.goto(`${url}/#token=a-token-of-the-test`);
    await expect(page.getByRole("heading", { name: "Choose your data" })).toBeVisible();
    expect(page.url()).not.toContain("a-token");
  });
});

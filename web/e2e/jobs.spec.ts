/** Accounting that the page has never seen: advice on a job, and the report on all of them. */
import { expect, expectErrors, HOME, look, test } from "./look";
import { choose } from "./person";
import { accounting, sweep } from "./tables";

test.setTimeout(420_000);
const WORKING = 240_000; // ms that work may take on a busy machine

test("advice on a job: by its number, from its lines, for a script, for the last jobs", async ({
  page,
}) => {
  await page.goto(`${HOME}/#/jobs`);
  await expect(page.getByRole("heading", { level: 1, name: "Jobs" })).toBeVisible();
  await look(page, "jobs-none");
  await choose(page, "Bring accounting", "cluster jobs.csv", accounting(240));
  const job = page.getByRole("textbox", { name: "The job" });
  await job.fill("4231");
  await page.getByRole("button", { name: "Advise on this job" }).click();
  const advice = page.getByRole("region", { name: "Advice" });
  // By the law of the table: about 9 GiB and at most 24 minutes of what was asked for.
  await expect(
    advice.getByRole("heading", { name: /^Ask for .* instead of 24 GiB/ }),
  ).toBeVisible();
  const lines = advice.getByRole("list", { name: "Lines of the job script" });
  await expect(lines.getByText("#SBATCH --mem=24G")).toBeVisible();
  await expect(lines.getByText(/#SBATCH --mem=1[01]/)).toBeVisible();
  await expect(lines.getByText(/#SBATCH --time=0-00:2/)).toBeVisible();
  await expect(advice.getByText("Chance of a timeout")).toBeVisible({ timeout: WORKING });
  await advice.getByText(/^The past jobs that it rests on: 80 similar jobs/).click();
  await look(page, "jobs-advice");
  await advice.getByRole("button", { name: "4228" }).click();
  await expect(advice.getByText("job 4228: train of alice")).toBeVisible({ timeout: WORKING });

  // What sacct prints of a job that is not among them, and a script before it is submitted.
  await job.fill(
    "JobID|JobName|User|State|Timelimit|ReqMem|AllocCPUS\n99|solve|bob|TIMEOUT|02:00:00|4G|8",
  );
  await page.getByRole("button", { name: "Advise on this job" }).click();
  await expect(advice.getByText(/^job 99: solve of bob. It ran out/)).toBeVisible({
    timeout: WORKING,
  });
  await job.fill(
    "#!/bin/bash\n#SBATCH --job-name=prepare --time=01:00:00 --mem=16G\nsrun ./prepare",
  );
  await page.getByRole("textbox", { name: "User" }).fill("alice");
  await page.getByRole("button", { name: "Advise on this job" }).click();
  await expect(advice.getByText("the job script: prepare of alice")).toBeVisible({
    timeout: WORKING,
  });
  await job.fill("");
  await page.getByRole("button", { name: "Advise on the last jobs" }).click();
  await expect(
    advice.getByText("2 kinds of jobs among the last 20, the latest first"),
  ).toBeVisible();

  // A link names the job, and a reload asks about it again.
  await page.goto(`${page.url()}?job=4229`);
  await expect(advice.getByText("job 4229: prepare of alice")).toBeVisible({ timeout: WORKING });
});

test("the report of a site that gathers no memory, and a table that is no accounting", async ({
  page,
}) => {
  expectErrors(page, /status of 4\d\d/);
  await page.goto(`${HOME}/#/jobs`);
  await page
    .getByRole("textbox", { name: "What sacct printed" })
    .fill(accounting(150, false, 6).trimEnd());
  await page.getByRole("button", { name: "Use these jobs" }).click();
  await page.getByRole("tab", { name: "Report on all jobs" }).click();
  await expect(
    page.getByRole("heading", { name: /^40 % of the reserved cores were busy/ }),
  ).toBeVisible({ timeout: WORKING });
  await expect(page.getByText(/no job tells the memory it used/i)).toBeVisible();
  const most = page.getByRole("region", { name: "What would free most" });
  await expect(most.getByRole("listitem").first()).toContainText("train of alice");
  await expect(most.getByRole("listitem").first()).toContainText("--time=0-00:");
  await expect(
    page.getByRole("img", { name: /^What was used of what was reserved in/ }),
  ).toBeVisible();
  await look(page, "jobs-report");
  const who = page.getByRole("region", { name: "By user" });
  await who.getByRole("button", { name: "Timeouts" }).click();
  await expect(who.getByRole("row").nth(1)).toContainText("bob");
  await page.getByText("Application", { exact: true }).click();
  await expect(page.getByRole("region", { name: "By application" })).toContainText("prepare");

  await choose(page, "Bring accounting", "sweep of no jobs.csv", sweep());
  await expect(page.getByRole("alert")).toContainText("This table does not tell what jobs used");
});

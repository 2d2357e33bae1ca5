/**
 * How quick the page is on 100,000 runs and 1,000 suggestions: the built page, a real server and
 * Chromium without a graphics card, which is the slow case. `make page-bench` runs it.
 */
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { typing, usingTheTable } from "./page/answer.mjs";
import { loading } from "./page/loading.mjs";
import { pastRuns, sideBySide, whatIf } from "./page/plots.mjs";
import { print, Results } from "./page/results.mjs";
import { prepare } from "./page/runs.mjs";
import { launch } from "./page/watch.mjs";

const REPEATS = 3;

const { module } = await runnerImport(fileURLToPath(new URL("../e2e/server.ts", import.meta.url)));
const server = new module.Server();
const browser = await launch();
try {
  const place = await prepare(await server.start(), print);
  print(`load of the machine: ${loadavg()[0].toFixed(1)}`);
  const results = new Results();
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    results.loaded(await loading(browser, place));
    for (const part of [usingTheTable, typing, pastRuns, sideBySide, whatIf])
      await part(browser, place, results.record);
  }
  print(`load of the machine: ${loadavg()[0].toFixed(1)}`);
  process.exitCode = results.tell() ? 0 : 1;
} finally {
  await browser.close();
  await server.remove();
}

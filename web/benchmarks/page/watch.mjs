/** Looking at a page from inside and from its connection: frames, tasks, keys, bytes. */
import { chromium } from "@playwright/test";

export function launch() {
  return chromium.launch({
    executablePath: process.env.COMPASS_CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** Runs in the page before anything else. */
function watch() {
  const seen = { frames: [], tasks: [], inputs: [], drawn: 0 };
  window.seen = seen;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) seen.tasks.push(one.duration);
  }).observe({ type: "longtask", buffered: true });
  let last = performance.now();
  const tick = (now) => {
    seen.frames.push(now - last);
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  // From the moment that the browser has a key or a click until the frame that shows what follows
  // is done, which is when the next one begins: at least one frame, two where nothing hinders.
  const input = (event) =>
    requestAnimationFrame(() =>
      requestAnimationFrame(() => seen.inputs.push(performance.now() - event.timeStamp)),
    );
  for (const type of ["keydown", "click"]) window.addEventListener(type, input, true);
  // The last time that something was put on a canvas.
  const begin = CanvasRenderingContext2D.prototype.beginPath;
  CanvasRenderingContext2D.prototype.beginPath = function () {
    seen.drawn = performance.now();
    return begin.call(this);
  };
}

/** A new visitor of the page, with the key of the workspace that holds the runs. */
export async function visit(browser, place, hash = "") {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(watch);
  await page.addInitScript((key) => localStorage.setItem("compass.workspaces", key), place.key);
  const bytes = await traffic(page);
  await page.goto(`${place.url}/${hash}`);
  return { page, bytes, close: () => context.close() };
}

/** Bytes as they come over the connection (compressed, with headers), since the last call. */
async function traffic(page) {
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  await network.send("Performance.enable", { timeDomain: "threadTicks" });
  sessions.set(page, network);
  const types = new Map();
  let sums = {};
  network.on("Network.responseReceived", ({ requestId, type }) => types.set(requestId, type));
  network.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const type = types.get(requestId) ?? "Other";
    sums[type] = (sums[type] ?? 0) + encodedDataLength;
  });
  return () => {
    const { Script = 0, Stylesheet = 0, ...rest } = sums;
    sums = {};
    const data = Object.values(rest).reduce((sum, one) => sum + one, 0);
    return { script: Script, style: Stylesheet, data };
  };
}

const sessions = new WeakMap();

/** CPU time of the page's own thread, in ms: the same however busy the machine is. */
async function worked(page) {
  const { metrics } = await sessions.get(page).send("Performance.getMetrics");
  return 1000 * (metrics.find((one) => one.name === "TaskDuration")?.value ?? 0);
}

/** Frames, long tasks and inputs while something is done, and how long that takes. */
export async function during(page, act) {
  await page.waitForTimeout(200);
  await page.evaluate(() => {
    for (const list of [window.seen.frames, window.seen.tasks, window.seen.inputs]) list.length = 0;
  });
  const before = await worked(page);
  const began = performance.now();
  const told = await act();
  const ms = performance.now() - began;
  const cpu = (await worked(page)) - before;
  const { frames, tasks, inputs } = await page.evaluate(() => window.seen);
  return {
    ms: typeof told === "number" ? told : ms,
    cpu,
    median: at(frames, 0.5),
    most: at(frames, 0.95),
    longest: at(frames, 1),
    task: Math.max(0, ...tasks),
    inputs,
  };
}

export function at(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Wait until no canvas was drawn on for a while; the moment of the last drawing, in page time. */
export async function drawnOn(page, quiet = 600) {
  await page.waitForFunction(
    (ms) => window.seen.drawn > 0 && performance.now() - window.seen.drawn > ms,
    quiet,
    { timeout: 120_000, polling: 100 },
  );
  return page.evaluate(() => window.seen.drawn);
}

export function now(page) {
  return page.evaluate(() => performance.now());
}

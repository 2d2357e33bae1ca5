/** What every test of the page has: no foreign host, no error in the console, and a way to look. */
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test as base, expect, type Page } from "@playwright/test";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SHOTS = process.env.COMPASS_SHOTS; // a folder: pictures of every state are kept there
const DESK = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
const PATIENCE = { intervals: [250, 1000, 2000], timeout: 15_000 };

/** The address of the server that tests share. */
export const HOME = process.env.COMPASS_URL ?? "";

const expected = new WeakMap<Page, RegExp[]>();

/** Failures that a test brings about on purpose are told in the console, too. */
export function expectErrors(page: Page, ...patterns: RegExp[]): void {
  expected.set(page, [...(expected.get(page) ?? []), ...patterns]);
}

export const test = base.extend({
  page: async ({ page }, use) => {
    const foreign: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (!["data:", "blob:"].includes(protocol) && hostname !== "127.0.0.1")
        foreign.push(request.url());
    });
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || /Content Security Policy/.test(message.text()))
        errors.push(message.text());
    });
    await use(page);
    expect(foreign, "requests to other hosts").toEqual([]);
    const known = expected.get(page) ?? [];
    const unexpected = errors.filter((one) => !known.some((pattern) => pattern.test(one)));
    expect(unexpected, "errors in the console").toEqual([]);
  },
});

/** Look at a state: light, dark and on a phone; nothing may shut people out, or scroll sideways. */
export async function look(page: Page, state: string): Promise<void> {
  // Dark differs in its colours only, and a phone in everything else.
  for (const [scheme, size, name, rules] of [
    ["light", DESK, "light", "{}"],
    ["dark", DESK, "dark", "{ runOnly: ['color-contrast'] }"],
    ["light", PHONE, "phone", "{ rules: { 'color-contrast': { enabled: false } } }"],
  ] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await page.setViewportSize(size);
    await drawnAnew(page);
    // On a busy machine a moment is long: a fault that goes away by itself was none.
    await expect
      .poll(() => sideways(page), { ...PATIENCE, message: `${state} (${name}) is too wide` })
      .toBe(false);
    await expect
      .poll(() => faults(page, rules), { ...PATIENCE, message: `${state} (${name})` })
      .toEqual([]);
    if (SHOTS) {
      await page.evaluate(() => window.scrollTo(0, 0));
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: `${SHOTS}/${state}-${name}.png`, fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await page.setViewportSize(DESK);
}

/** Until the page has been laid out and drawn for its new size and colours, and charts with it. */
function drawnAnew(page: Page): Promise<void> {
  return page.evaluate(
    () =>
      new Promise<void>((done) => {
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 250)));
      }),
  );
}

function sideways(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth + 1);
}

interface Found {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Serious and critical faults that axe finds. */
async function faults(page: Page, rules: string): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const run = `axe.run(document, { ...${rules}, resultTypes: ['violations'] })`;
  const found = (await page.evaluate(run)) as {
    violations: Found[];
  };
  return found.violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map(
      (one) => `${one.id}: ${one.nodes.map((n) => `${n.html} ${n.failureSummary}`).join(" | ")}`,
    );
}

export { expect };

/** What a person does on the page. */
import type { Page } from "@playwright/test";
import { expect } from "./look";
import { Server } from "./server";

/** Say something in the conversation, and wait for the reply. */
export async function say(page: Page, text: string): Promise<void> {
  const heard = page.getByRole("log", { name: "What was said" }).getByText("Compass:");
  await expect(heard.first()).toBeAttached(); // the greeting is no reply
  const before = await heard.count();
  const box = page.getByRole("textbox", { name: "Say it in your own words" });
  await box.fill(text);
  await box.press("Enter");
  await expect(async () => expect(await heard.count()).toBeGreaterThan(before)).toPass();
  await expect(box).toBeEnabled();
}

/** Bring a table by the button. */
export async function bring(page: Page, name: string, content: string): Promise<void> {
  await choose(page, "Choose a file", name, content);
}

/** Choose a file after pressing a button. */
export async function choose(
  page: Page,
  button: string,
  name: string,
  content: string,
): Promise<void> {
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: button }).click();
  await (await choosing).setFiles({ name, mimeType: "text/plain", buffer: Buffer.from(content) });
}

/** Say yes to the finished question, and wait for its answer. */
export async function ask(page: Page, timeout?: number): Promise<void> {
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await answered(page, timeout);
}

const WORKING = 240_000; // ms that work may take on a busy machine

/** Wait for an answer, for which something may have to be learnt first. */
export async function answered(page: Page, timeout = WORKING): Promise<void> {
  const status = page.getByRole("status").filter({ hasText: "Answered below" });
  await expect(status).toBeVisible({ timeout });
}

/** Wait until the plots of an answer are drawn; they are when somebody comes to look at them. */
export async function drawn(page: Page): Promise<void> {
  const plots = page.getByRole("region", { name: "Look closer" });
  if (await plots.isVisible()) await plots.scrollIntoViewIfNeeded();
  await expect(page.getByRole("status", { name: /^Loading/ })).toHaveCount(0);
}

/** With a server of one's own and a small engine, which may be killed. */
export async function own(
  page: Page,
  words: string[],
  journey: (url: string, server: Server) => Promise<void>,
): Promise<void> {
  const server = new Server(process.env.COMPASS_SMALL ?? "", "--limit", "ask_workers=1", ...words);
  try {
    await journey(await server.start(), server);
    await page.goto("about:blank"); // before the server goes, or the page would say that it is gone
  } finally {
    await server.remove();
  }
}

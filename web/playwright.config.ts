import { defineConfig } from "@playwright/test";

// Debian's browser, started as tests of a closed machine have to: it looks up nothing by itself.
const BROWSER = process.env.COMPASS_CHROMIUM ?? "/usr/bin/chromium";

export default defineConfig({
  testDir: "e2e",
  globalSetup: "./e2e/serve.ts",
  fullyParallel: true,
  workers: 2,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [["list"]],
  forbidOnly: true,
  use: {
    viewport: { width: 1280, height: 900 },
    colorScheme: "light",
    contextOptions: { reducedMotion: "reduce" }, // without a graphics card, movement is dear
    // Recording every step costs about a third of the time; COMPASS_TRACE=1 does, to look into a failure.
    trace: process.env.COMPASS_TRACE ? "retain-on-failure" : "off",
    screenshot: "only-on-failure",
    actionTimeout: 30_000,
    launchOptions: {
      executablePath: BROWSER,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});

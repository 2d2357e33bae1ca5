import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const SERVER = process.env.COMPASS_SERVER ?? "http://127.0.0.1:8765";

/** Compressed once here instead of by the server at every visit. */
function compressed(): Plugin {
  let folder = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved(config) {
      folder = join(config.build.outDir, config.build.assetsDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder).filter((one) => /\.(js|css|svg)$/.test(one)))
        writeFileSync(join(folder, `${name}.gz`), gzipSync(readFileSync(join(folder, name))));
    },
  };
}

export default defineConfig({
  plugins: [react(), compressed()],
  base: "./", // the page also works below a path of a reverse proxy
  resolve: { alias: { "@": here("./src") } },
  build: {
    // The server and the wheel take the page from here.
    outDir: process.env.COMPASS_PAGE ?? here("../src/compass/server/page"),
    emptyOutDir: true,
    // Browsers that know light-dark(): rewritten for older ones, it would lose the colours.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    chunkSizeWarningLimit: 700, // plots, which are loaded when they are looked at
  },
  server: {
    // `npm run dev` beside `compass serve`
    host: "127.0.0.1",
    // Host stays as it is: the server only takes requests of pages of its own address.
    proxy: Object.fromEntries(
      ["/api", "/healthz"].map((path) => [path, { target: SERVER, changeOrigin: false }]),
    ),
  },
  // Files are kept apart by contexts of one process, which take less than half of the time of processes.
  test: {
    include: ["tests/**/*.test.{ts,tsx}"],
    environment: "node",
    pool: "vmThreads",
  },
});

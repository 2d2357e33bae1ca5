/** A real server in a process of its own, which tests may kill and start again. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const EMBEDDED = join(ROOT, "src/compass/embedded");

export const PYTHON = join(ROOT, ".venv/bin/python");

/** A saved engine on a table: servers that offer it need not learn. */
export function learn(folder: string, table: string): string {
  const file = join(folder, "small.csv");
  const engine = join(folder, "small.compass");
  writeFileSync(file, table);
  const roles = ["nodes=knob", "runtime=outcome", "energy=outcome"].flatMap((one) => [
    "--role",
    one,
  ]);
  const words = ["fit", file, "--surrogate", "forest", "--output", engine, ...roles];
  execFileSync(PYTHON, ["-m", "compass.cli.main", ...words], { stdio: "pipe" });
  return engine;
}

export class Server {
  url = "";
  private process: ChildProcess | null = null;
  private readonly home = mkdtempSync(join(tmpdir(), "compass-page-"));
  private readonly words: string[];

  constructor(...words: string[]) {
    this.words = words;
  }

  /** Start `compass serve`, on the same port as before if there was one. */
  async start(): Promise<string> {
    const port = this.url ? new URL(this.url).port : "0";
    const words = ["-m", "compass.cli.main", "serve", ...this.words];
    const place = ["--port", port, "--state", join(this.home, "state")];
    const process_ = spawn(PYTHON, [...words, ...place], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process = process_;
    let said = "";
    this.url = await new Promise<string>((resolve, reject) => {
      const heard = (part: Buffer) => {
        said += part.toString();
        const found = /Compass listens on (http:\S+)/.exec(said);
        if (found?.[1]) resolve(found[1]);
      };
      process_.stdout.on("data", heard);
      process_.stderr.on("data", heard);
      process_.once("exit", () => reject(new Error(`the server ended: ${said}`)));
    });
    return this.url;
  }

  /** End it as a failure of power would. */
  async kill(): Promise<void> {
    const running = this.process;
    if (running === null || running.exitCode !== null) return;
    const gone = new Promise((done) => running.once("exit", done));
    running.kill("SIGKILL");
    await gone;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

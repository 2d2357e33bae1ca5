/** One server with the embedded data for all tests, as `make run` offers it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EMBEDDED, learn, Server } from "./server";
import { jobs } from "./tables";

export default async function serve(): Promise<() => Promise<void>> {
  // A forest is there soonest; journeys are not about how well something is learnt.
  const server = new Server("--surrogate", "forest", "--allow", EMBEDDED);
  process.env.COMPASS_URL = await server.start();
  const folder = mkdtempSync(join(tmpdir(), "compass-page-"));
  process.env.COMPASS_SMALL = learn(folder, jobs(120));
  return async () => {
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  };
}

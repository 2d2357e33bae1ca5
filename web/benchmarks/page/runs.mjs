/** What is measured: 100,000 runs that follow a known law, and an engine that learnt from them. */

export const ROWS = 100_000;
export const WANTED = 1000;
// Goals that very many configurations reach: of two extremes only the front would be suggested.
const QUESTION =
  "Recommend X = {nodes: ?, threads: ?, tile: ?, frequency: ?, affinity: ?} " +
  "to achieve Y = {runtime: <= 60, energy: <= 150000} where C = {app == 'cfd'}";

/** Numbers in [0, 1), the same ones every time. */
function chance(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Two programs, five knobs with many values, two outcomes that pull in different directions. */
export function table(rows = ROWS, seed = 11) {
  const random = chance(seed);
  const pick = (of) => of[Math.floor(random() * of.length)];
  const range = (from, to, step) =>
    Array.from({ length: Math.round((to - from) / step) + 1 }, (_, at) => from + at * step);
  const knobs = {
    nodes: [1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64],
    threads: range(4, 128, 4),
    tile: range(8, 256, 8),
    frequency: range(12, 36, 1).map((one) => one / 10),
  };
  const lines = ["app,affinity,nodes,threads,tile,frequency,runtime,energy"];
  for (let i = 0; i < rows; i += 1) {
    const app = pick(["cfd", "md"]);
    const affinity = pick(["close", "spread"]);
    const [nodes, threads, tile, frequency] = Object.values(knobs).map(pick);
    const work = app === "cfd" ? 9000 : 4000;
    const fit = 1 + 0.15 * Math.abs(Math.log2(tile / 64));
    const wait = 0.4 * nodes ** 0.7 + (affinity === "close" ? 0.01 * threads : 0.2);
    const noise = 0.9 + 0.2 * random();
    const runtime = ((work * fit) / (nodes ** 0.9 * threads ** 0.7 * frequency) + wait) * noise;
    const power = nodes * (80 + threads * 0.5 * frequency ** 2) * (0.95 + 0.1 * random());
    const cells = [app, affinity, nodes, threads, tile, frequency];
    lines.push([...cells, runtime.toFixed(3), (runtime * power).toFixed(1)].join(","));
  }
  return `${lines.join("\n")}\n`;
}

/** The server over HTTP, as one workspace. */
export class Client {
  constructor(url) {
    this.url = url;
    this.key = "";
  }

  async call(method, path, body, type = "application/json") {
    const headers = { "Content-Type": type };
    if (this.key) headers["Compass-Workspace"] = this.key;
    const response = await fetch(`${this.url}/api/v1${path}`, { method, headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  post(path, body) {
    return this.call("POST", path, JSON.stringify(body));
  }

  /** The thing that was made at once, or the job's, when it is done. */
  async made(begun, named, folder) {
    let job = begun;
    while (job.state !== undefined && job.kind !== undefined) {
      if (job.state === "done") return this.call("GET", `/${folder}/${job[named]}`);
      if (job.problem) throw new Error(JSON.stringify(job.problem));
      await new Promise((done) => setTimeout(done, 250));
      job = await this.call("GET", `/jobs/${job.id}`);
    }
    return begun;
  }
}

/** Bring the runs, learn from them, ask for as many suggestions as can be asked for. */
export async function prepare(url, tell) {
  const client = new Client(url);
  client.key = (await client.call("POST", "/workspaces")).key;
  const seconds = async (name, work) => {
    const began = performance.now();
    const found = await work();
    tell(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
    return found;
  };
  // The engine that is offered to everybody learns in the background: that would disturb.
  await seconds("the engine of the embedded data", async () => {
    const ready = (one) => one.learnt === one.outcomes.length;
    while (!(await client.call("GET", "/engines")).some(ready))
      await new Promise((done) => setTimeout(done, 500));
  });
  const csv = table();
  const data = await seconds(`upload of ${ROWS.toLocaleString("en")} rows`, async () => {
    const path = "/datasets/upload?name=runs.csv&wait=60";
    return client.made(await client.call("POST", path, csv, "text/csv"), "dataset", "datasets");
  });
  const outcome = (unit) => ({ role: "outcome", unit });
  const study = {
    columns: { app: { role: "context" }, runtime: outcome("s"), energy: outcome("J") },
  };
  const engine = await seconds("fit of a forest", async () => {
    const body = { dataset: data.id, name: "runs", surrogate: "forest", seed: 1, study };
    const made = await client.made(
      await client.post("/engines?wait=60", body),
      "engine",
      "engines",
    );
    for (const outcome of ["runtime", "energy"]) {
      const learning = await client.post(`/engines/${made.id}/outcomes?wait=60`, { outcome });
      await client.made(learning, "engine", "engines");
    }
    return made;
  });
  const answer = await seconds(`question with count ${WANTED}`, async () => {
    const body = { question: QUESTION, count: WANTED, prove: 0 };
    const path = `/engines/${engine.id}/answers?wait=60`;
    return client.made(await client.post(path, body), "answer", "answers");
  });
  tell(`suggestions: ${answer.answer.suggestions.length} of ${WANTED} asked for`);
  return { url, key: client.key, engine: engine.id, answer: answer.id, text: answer.answer.text };
}

/** Tables that people might bring: made here, from a law that is known. */

/** A generator of numbers in [0, 1) that gives the same ones every time. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Runs of two programs: more threads and nodes are faster, by a law with diminishing returns. */
export function jobs(rows: number, seed = 7): string {
  const random = chance(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const lines = ["app,nodes,num_threads,thread_affinity,runtime,energy,ipath_0,ipath_1"];
  for (let i = 0; i < rows; i += 1) {
    const app = pick(["ft", "comd"]);
    const nodes = pick([1, 2, 4, 8]);
    const threads = pick([4, 8, 16, 32]);
    const affinity = pick(["close", "spread"]);
    const noise = 1 + 0.04 * (random() - 0.5);
    const work = app === "ft" ? 400 : 900;
    const runtime =
      (work / (nodes ** 0.8 * threads ** 0.6)) * (affinity === "close" ? 1.1 : 1) * noise;
    const energy = runtime * nodes * (90 + 2 * threads);
    const cells = [
      app,
      nodes,
      threads,
      affinity,
      runtime.toFixed(3),
      energy.toFixed(1),
      i % 7,
      i % 3,
    ];
    lines.push(cells.join(","));
  }
  return `${lines.join("\n")}\n`;
}

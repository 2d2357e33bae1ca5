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

/** Runs of a solver on two grids, some of which failed; its columns have names that are no words. */
export function solver(rows: number, seed = 11): string {
  const random = chance(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const lines = ["grid,mpi ranks,block size,precond,solver,solve time (s),memory (MB)"];
  for (let i = 0; i < rows; i += 1) {
    const grid = pick(["small", "large"]);
    const ranks = pick([4, 8, 16, 32]);
    const block = pick([32, 64, 128]);
    const precond = pick(["none", "jacobi", "ilu"]);
    const work = grid === "small" ? 60 : 300;
    const steps = { none: 3, jacobi: 1.5, ilu: 1 }[precond] ?? 1;
    const seconds = (work * steps * (1 + Math.abs(block - 64) / 128)) / ranks ** 0.7;
    const memory = (grid === "small" ? 900 : 4000) * (precond === "ilu" ? 1.6 : 1) + 40 * ranks;
    const time =
      precond === "none" && ranks === 4 && grid === "large"
        ? "timeout"
        : (seconds * (1 + 0.06 * (random() - 0.5))).toFixed(3);
    lines.push([grid, ranks, block, precond, "gmres", time, memory.toFixed(0)].join(","));
  }
  return `${lines.join("\n")}\n`;
}

/** A sweep without any context: each configuration once, a rate and a power. */
export function sweep(): string {
  const lines = ["unroll,vector,prefetch,gflops,power_w"];
  for (const unroll of [1, 2, 4, 8])
    for (const vector of [128, 256, 512])
      for (const prefetch of [0, 1, 2, 4]) {
        const rate = 3 * unroll ** 0.5 * (vector / 128) ** 0.6 * (1 + prefetch / 8) - unroll / 9;
        const power = 40 + 6 * (vector / 128) + 2 * unroll + prefetch;
        lines.push([unroll, vector, prefetch, rate.toFixed(3), power.toFixed(1)].join(","));
      }
  return `${lines.join("\n")}\n`;
}

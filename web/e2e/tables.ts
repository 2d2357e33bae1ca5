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

/** Accounting as `sacct --parsable2` prints it: two applications that ask for too much, one for too
 * little; every other site gathers no memory. */
export function accounting(count: number, memory = true, seed = 5): string {
  const random = chance(seed);
  const two = (given: number) => String(Math.floor(given)).padStart(2, "0");
  const clock = (s: number) => `${two(s / 3600)}:${two((s % 3600) / 60)}:${two(s % 60)}`;
  const stamp = (s: number) => new Date(Date.UTC(2026, 0, 5) + 1000 * s).toISOString().slice(0, 19);
  const kinds = [
    { user: "alice", name: "train", partition: "gpu", need: 1200, limit: 36_000, gib: 9, ask: 24 },
    { user: "alice", name: "prepare", partition: "cpu", need: 300, limit: 3600, gib: 2, ask: 16 },
    { user: "bob", name: "solve", partition: "cpu", need: 7000, limit: 7200, gib: 3, ask: 4 },
  ] as const;
  const lines = [
    "JobID|JobName|User|Partition|State|Submit|Start|End|Elapsed|Timelimit|AllocCPUS|NNodes|ReqMem|MaxRSS|TotalCPU",
  ];
  for (let i = 0; i < count; i += 1) {
    const of = kinds[i % kinds.length];
    if (of === undefined) continue;
    const wanted = of.need * (0.8 + 0.4 * random());
    const elapsed = Math.min(wanted, of.limit);
    const state = wanted > of.limit ? "TIMEOUT" : "COMPLETED";
    const begins = 7200 * i;
    const used = memory ? `${Math.round(of.gib * 2 ** 20 * (0.9 + 0.2 * random()))}K` : "0";
    const own = [of.name, of.user, of.partition, state, stamp(begins), stamp(begins + 60)];
    const rest = [stamp(begins + 60 + elapsed), clock(elapsed), clock(of.limit), 8, 1];
    const id = 4000 + i;
    lines.push([id, ...own, ...rest, `${of.ask}G`, "", clock(3.2 * elapsed)].join("|"));
    lines.push(
      [`${id}.batch`, "batch", "", "", state, "", "", "", clock(elapsed), "", 8, 1].join("|") +
        `||${used}|${clock(3.2 * elapsed)}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

/** Runs of programs on three machines by a roofline; one program was run on the slowest only. */
export function roofline(): string {
  const machines = { opal: [5, 20], pearl: [12, 60], topaz: [40, 140] } as const;
  const lines = ["machine,app,size,runtime (s),flops,bytes"];
  const random = chance(3);
  const programs = ["cg", "ft", "lu", "ua", "mycode", "mg", "sp", "bt", "is", "ep"];
  for (const [at, app] of programs.entries())
    for (const size of [1, 2, 4])
      for (const [machine, [bandwidth, peak]] of Object.entries(machines)) {
        if (app === "mycode" && machine !== "opal") continue;
        const intensity = 10 ** (-1 + (2 * at) / programs.length);
        const seconds = Math.max((60 * size) / bandwidth, (60 * size * intensity) / peak);
        const noise = 1 + 0.02 * (random() - 0.5);
        const counts = [(60e9 * size * intensity).toExponential(3), (60e9 * size).toExponential(3)];
        lines.push([machine, app, size, (seconds * noise).toFixed(4), ...counts].join(","));
      }
  return `${lines.join("\n")}\n`;
}

/** Kernels on two graphics cards without any counter: the newer one takes six tenths of the time. */
export function cards(): string {
  const lines = ["gpu,kernel,block,time_ms"];
  const random = chance(9);
  for (const [at, kernel] of ["axpy", "gemm", "sort", "scan", "stencil"].entries())
    for (const block of [64, 128, 256])
      for (const gpu of ["A100", "H100"]) {
        const ms = (3 + at) * (1 + block / 512) * (gpu === "H100" ? 0.6 : 1);
        lines.push([gpu, kernel, block, (ms * (1 + 0.03 * random())).toFixed(4)].join(","));
      }
  return `${lines.join("\n")}\n`;
}

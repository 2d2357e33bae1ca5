/** Machines in their order: what is decided, how sure, and where intervals lie beside each other. */
import type { LineForecast, MachineForecast, MachinesView } from "@/api/types";
import { count, number, share, withInterval } from "@/show/values";

/** What a runtime is told in; null: the column holds work per second, so that only ratios are told. */
export type Told = { unit: string | null } | null;

export function toldIn({ throughput, unit }: Pick<MachinesView, "throughput" | "unit">): Told {
  return throughput ? null : { unit: unit ?? null };
}

/** "size = 4, mode = fast"; labels come as a column per label, which is 1 where it is meant. */
export function lineName({ configuration }: Pick<LineForecast, "configuration">): string {
  const told = Object.entries(configuration).flatMap(([name, given]) => {
    if (!name.includes(" = ")) return [`${name} = ${number(given)}`];
    return given === 1 ? [name] : [];
  });
  return told.join(", ");
}

/** Where an application was run on most of its inputs. */
export function usualSource(machines: Readonly<Record<string, number>>): string {
  const [first] = Object.entries(machines).sort(([, one], [, other]) => other - one);
  return first?.[0] ?? "";
}

/** "13.9 s [11, 17]", "×0.17 [0.14, 0.2]", "measured"; what is not told has its interval at least. */
export function runtimeOf(
  of: MachineForecast,
  line: Pick<LineForecast, "source_runtime">,
  told: Told,
): string {
  const times = told && typeof line.source_runtime === "number" ? line.source_runtime : null;
  const scale = (given: number | null | undefined) =>
    typeof given === "number" ? given * (times ?? 1) : null;
  const [value, low, high] = [scale(of.ratio), scale(of.low), scale(of.high)];
  const unit = times === null ? null : (told?.unit ?? null);
  const sign = times === null ? "×" : "";
  if (value === null) return "not told";
  if (of.measured || low === null || high === null)
    return `${sign}${withInterval(value, { low: null, high: null } as never, unit).text}`;
  const { text, ends } = withInterval(value, { low, high } as never, unit);
  return `${sign}${text}${ends ? ` [${ends.join(", ")}]` : ""}`;
}

/** "×0.17": below 1 is faster. */
export function ratioOf({ ratio }: Pick<MachineForecast, "ratio">): string {
  return typeof ratio === "number" ? `×${number(Number(ratio.toPrecision(3)))}` : "–";
}

/** Chances of simulated orders are no finer than this. */
export function chance(given: number | null | undefined): string {
  if (typeof given !== "number") return "–";
  if (given < 0.01) return "< 1 %";
  return given > 0.99 ? "> 99 %" : share(given);
}

/** What is said first: of the fastest machine, or, where no other one is told, of the fastest other. */
export function leading(line: LineForecast, source: string): MachineForecast | undefined {
  const others = line.machines.filter((one) => one.machine !== source);
  if (!others.some((one) => typeof one.ratio === "number")) return others[0];
  return line.machines.find((one) => typeof one.ratio === "number");
}

/** What to do, in a sentence. */
export function decision(line: LineForecast, source: string, told: Told): string {
  const first = leading(line, source);
  if (!first) return `Nothing is known of a machine other than ${source}.`;
  if (typeof first.ratio !== "number") {
    const run = line.run_next?.[0]?.machine ?? first.machine;
    return `Too little is known of the other machines: run it once on ${run}.`;
  }
  if (first.machine === source)
    return `Stay on ${source}: no other machine is expected to be faster.`;
  const here = line.machines.find((one) => one.machine === source);
  const now = runtimeOf(first, line, told);
  const before = here && told ? ` instead of ${runtimeOf(here, line, told)} on ${source}` : "";
  const than = told ? "" : ` the time it takes on ${source}`;
  return `Run it on ${first.machine}: ${now}${before}${than}.`;
}

/** How sure the first place and the whole order are. */
export function certainty(line: LineForecast, source: string): string {
  const first = line.machines.find((one) => typeof one.fastest === "number");
  if (!first || typeof leading(line, source)?.ratio !== "number") return "";
  const ordered = line.machines.filter((one) => typeof one.fastest === "number").length;
  const whole =
    ordered > 2
      ? ` The whole order is as below with a chance of ${chance(line.order_chance)}.`
      : "";
  return `${first.machine} is the fastest with a chance of ${chance(first.fastest)}.${whole}`;
}

/** The cheapest machine, and the one that takes the least energy, where that is known of several. */
export function savings(line: LineForecast): string[] {
  const least = (key: "cost" | "energy", what: string) => {
    const known = line.machines.filter((one) => typeof one[key] === "number");
    if (known.length < 2) return [];
    const best = known.reduce((a, b) => ((b[key] ?? 0) < (a[key] ?? 0) ? b : a));
    return [`${best.machine} ${what} (${number(best[key] ?? 0)}).`];
  };
  return [...least("cost", "costs least"), ...least("energy", "takes the least energy")];
}

/** What one more run would settle; null: the order is as good as settled. */
export function settling({ run_next: next, doubt }: LineForecast): string | null {
  const best = next?.[0];
  if (!best || doubt <= 0.005) return null;
  return `${chance(doubt)} of the pairs of machines are expected to be in the wrong order. One run on ${best.machine} would leave ${chance(best.doubt)}.`;
}

export interface Span {
  /** Shares of the width. */
  from: number;
  to: number;
  at: number | null;
}

/** Where intervals of ratios lie on a logarithmic axis that all machines share; null: none is known. */
export function spans(machines: readonly MachineForecast[]): {
  of: (one: MachineForecast) => Span | null;
  /** Where as fast as on the source is. */
  same: number;
} {
  const ends = machines.flatMap((one) =>
    [one.low, one.high, one.ratio].filter(
      (given): given is number => typeof given === "number" && given > 0,
    ),
  );
  const low = Math.log(Math.min(1, ...ends));
  const high = Math.log(Math.max(1, ...ends));
  const width = high - low || 1;
  const place = (given: number) => 0.02 + 0.96 * ((Math.log(given) - low) / width);
  return {
    same: place(1),
    of: ({ low: from, high: to, ratio }) => {
      const at = typeof ratio === "number" && ratio > 0 ? place(ratio) : null;
      if (typeof from !== "number" || typeof to !== "number" || from <= 0)
        return at === null ? null : { from: at, to: at, at };
      return { from: place(from), to: place(to), at };
    },
  };
}

/** "fewer than ten applications": what was learnt from, in a sentence. */
export function learntFrom(error: number, members: readonly string[]): string {
  return `Applications that it had not seen were missed by a factor of ${number(Number(error.toPrecision(3)))} on the mean. What is told is the median of ${count(members.length, "model")}: ${members.join(", ")}.`;
}

/** A configuration that is written down as the starting run: it needs a value for everything. */
import type { Config, Space, Value } from "@/api/types";
import { count } from "@/show/values";
import { columns } from "./draft";

/** Names that still need a value, in the order of the table. */
export function lacking(space: Space, config: Config): string[] {
  const whole = withNone(space, config);
  return columns(space, "knob", "context")
    .map((one) => one.name)
    .filter((name) => whole[name] === undefined);
}

/** Numbers that may be missing are `none` unless something else is said. */
export function withNone(space: Space, config: Config): Config {
  const none = columns(space, "knob", "context").filter(
    (one) => one.kind === "number" && one.optional && config[one.name] === undefined,
  );
  return { ...Object.fromEntries(none.map((one) => [one.name, null])), ...config };
}

/** The values of a past run that can be said again; what cannot is left to the person. */
export function fromRun(space: Space, names: readonly string[], values: readonly Value[]): Config {
  const found: Config = {};
  for (const one of columns(space, "knob", "context")) {
    const value = values[names.indexOf(one.name)];
    if (value === undefined) continue;
    const fits = one.kind === "category" ? one.values.includes(value) : typeof value === "number";
    if (fits) found[one.name] = value;
  }
  return found;
}

/** About a run that the table has no row of. `further`: the engine was told of more runs, which got
 * the numbers behind the table; nothing shows their values. */
export function beyond(total: number, further: boolean): string {
  if (further)
    return `The table ends with run ${total - 1}. Runs that were given back have the numbers after it; their values cannot be shown here.`;
  return `There are ${count(total, "run")}; the last is number ${total - 1}.`;
}

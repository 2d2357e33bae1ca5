/** How to learn: the choices of a person, as the server is asked for them. */
import type { EngineBrief, EngineInfo, NewEngine, Study } from "@/api/types";
import { count } from "@/show/values";
import { keepFor, type Size, sizeOf } from "./sizes";
import { meaning, tidy } from "./study";

export interface Choices {
  /** null: the one that fits the number of rows. */
  size: Size | null;
  /** "": the best one is found by trying. */
  family: string;
  /** Seconds; 0: not at all. */
  tune: number;
  seed: number | null;
  /** Models that the person brought, by outcome. */
  models: Record<string, string>;
  /** Which columns such a model takes, as it was typed, by outcome. */
  inputs: Record<string, string>;
}

export const DEFAULTS: Choices = {
  size: null,
  family: "",
  tune: 0,
  seed: null,
  models: {},
  inputs: {},
};

/** Whether what is folded away is as it was. */
export function isPlain(choices: Choices): boolean {
  const { family, tune, seed, models } = choices;
  return !family && !tune && seed === null && !Object.values(models).some(Boolean);
}

export type Inputs = unknown[] | Record<string, unknown>;

/** Columns as a person types them: one name in each line, or JSON for more. Throws what is wrong. */
export function inputsOf(text: string): Inputs | null {
  const typed = text.trim();
  if (!typed) return null;
  if (!/^[[{]/.test(typed))
    return typed
      .split(/\n/)
      .map((line) => line.trim().replace(/^- /, ""))
      .filter(Boolean);
  let parsed: unknown;
  try {
    parsed = JSON.parse(typed);
  } catch {
    throw new Error("this is neither one name in each line nor JSON");
  }
  return parsed as Inputs;
}

export function inputsProblem(text: string): string | null {
  try {
    inputsOf(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Only outcomes that there still are have a model of their own. */
export function newEngine(
  dataset: { id: string; name: string },
  study: Study,
  choices: Choices,
  rows: number,
  outcomes: readonly string[],
): NewEngine {
  const made: NewEngine = { dataset: dataset.id, study: tidy(study), rules: [] };
  const sample = keepFor(sizeOf(choices.size, rows), rows);
  if (sample) Object.assign(made, sample);
  if (choices.family) made.surrogate = choices.family;
  if (choices.tune > 0) made.tune = choices.tune;
  if (choices.seed !== null) made.seed = choices.seed;
  const models = Object.entries(choices.models).filter(
    ([name, id]) => id && outcomes.includes(name),
  );
  if (models.length) made.models = Object.fromEntries(models);
  const inputs = models.flatMap(([name]) => {
    const said = inputsOf(choices.inputs[name] ?? "");
    return said === null ? [] : [[name, said] as const];
  });
  if (inputs.length) made.model_columns = Object.fromEntries(inputs);
  return made;
}

const LOOKED_AT = 5; // engines
const NAMED = 3; // columns that were left out
const NOTHING: Study = {
  rules: [],
  drop: [],
  dependencies: [],
  trust: {},
  machines: { throughput: false },
};
const OPTIONS = ["surrogate", "generator", "seed", "keep", "reducer", "tune", "represent"] as const;

/** Engines of a list that may have learnt just this way, the newest first: what was said about the
 * columns is only told one by one. */
export function candidates(engines: readonly EngineBrief[], wanted: NewEngine): EngineBrief[] {
  const asked = chosen(wanted);
  const models = Object.keys(wanted.models ?? {}).length;
  const found = engines.filter(
    (engine) =>
      engine.dataset === wanted.dataset &&
      !engine.parent &&
      engine.brought === models &&
      chosen(engine.options ?? {}) === asked,
  );
  return found.sort((one, other) => (one.created < other.created ? 1 : -1)).slice(0, LOOKED_AT);
}

/** The newest engine that learnt just this way; null: there is none. */
export function alreadyLearnt(
  engines: readonly EngineInfo[],
  wanted: NewEngine,
): EngineInfo | null {
  const asked = signature(wanted.study ?? NOTHING, wanted);
  const models = JSON.stringify(Object.entries(wanted.models ?? {}).sort());
  const found = engines.filter(
    (engine) =>
      engine.dataset === wanted.dataset &&
      !engine.parent &&
      // Which columns a model takes is not told back: such an engine is never taken for the same.
      !wanted.model_columns &&
      signature(engine.given_study ?? engine.study ?? NOTHING, engine.options ?? {}) === asked &&
      JSON.stringify(Object.entries(engine.brought ?? {}).sort()) === models,
  );
  return found.sort((one, other) => (one.created < other.created ? 1 : -1))[0] ?? null;
}

function signature(study: Study, options: Partial<Record<string, unknown>>): string {
  return `${meaning(study)} ${chosen(options)}`;
}

function chosen(options: Partial<Record<string, unknown>>): string {
  return JSON.stringify(OPTIONS.map((name) => options[name] ?? null));
}

/** What tells engines of the same data apart. */
export function engineFacts(engine: EngineBrief): string {
  const family = engine.options?.surrogate;
  const { rules, dropped, left_out: left } = engine;
  const told: string[] = [];
  if (engine.sample) told.push("from a sample");
  if (typeof family === "string") told.push(family);
  if (rules) told.push(count(rules, "rule"));
  if (left) {
    const more = left - Math.min(dropped.length, NAMED);
    told.push(`without ${dropped.slice(0, NAMED).join(", ")}${more ? ` and ${more} more` : ""}`);
  }
  if (engine.brought) told.push("with a model of your own");
  return told.join(", ");
}

/** The figures as tables: of several repeats the best one, since others use the machine too. */
import { at } from "./watch.mjs";

/** What is aimed at. */
const SCRIPT = 250_000; // bytes of script, compressed, of the first load
const MEDIAN = 17; // ms between two frames: every one of a screen of 60 Hz
const MOST = 34; // ms, 95 % of the frames
const KEY = 50; // ms from a key to what it shows, 95 % of them
const CLICK = 200; // ms from a single click to what it shows

const FEW = 5; // inputs: clicks, not a row of keys

export function print(line) {
  process.stdout.write(`${line}\n`);
}

export class Results {
  #runs = new Map();
  #loads = [];

  record = (name, found) => {
    this.#runs.set(name, [...(this.#runs.get(name) ?? []), found]);
  };

  loaded(found) {
    this.#loads.push(found);
  }

  /** Print everything; false when something that is aimed at is missed. */
  tell() {
    const missed = [...this.#tellLoads(), ...this.#tellRuns()];
    print("");
    for (const one of missed) print(`missed: ${one}`);
    if (missed.length === 0) print("every limit is kept");
    return missed.length === 0;
  }

  #tellLoads() {
    const best = (of) => Math.min(...this.#loads.map(of));
    const kb = (bytes) => (bytes / 1000).toFixed(1).padStart(9);
    print("\nkB over the connection     script    style     data");
    const { steps } = this.#loads[0];
    for (const { name, script, style, data } of steps)
      print(`${name.padEnd(24)}${kb(script)}${kb(style)}${kb(data)}`);
    print(`first contentful paint ${best((one) => one.paint).toFixed(0)} ms`);
    print(`first heading of the page ${best((one) => one.seen).toFixed(0)} ms`);
    return steps[0].script > SCRIPT
      ? [`${steps[0].name}: ${kb(steps[0].script)} kB of script`]
      : [];
  }

  #tellRuns() {
    const missed = [];
    const heads = ["frame", "95 %", "longest", "task", "inputs", "median", "95 %", "in all", "CPU"];
    print(`\n${"ms".padEnd(34)}${row(heads)}   95 % of frames in each repeat`);
    for (const [name, runs] of this.#runs) {
      const best = runs.reduce((a, b) => (cost(b) < cost(a) ? b : a));
      const inputs = best.inputs ?? [];
      const cells = [
        cell(best.median, 1),
        cell(best.most, 1),
        cell(best.longest),
        cell(best.task),
        inputs.length ? String(inputs.length) : "",
        inputs.length ? cell(at(inputs, 0.5)) : "",
        inputs.length ? cell(at(inputs, 0.95)) : "",
        cell(best.ms),
        cell(best.cpu),
      ];
      const each = runs.map((one) => cell(one.most ?? one.ms)).join(" ");
      print(`${name.padEnd(34)}${row(cells)}   ${each}`);
      if (best.median > MEDIAN) missed.push(`${name}: median frame ${cell(best.median, 1)} ms`);
      if (best.most > MOST) missed.push(`${name}: 95 % of frames ${cell(best.most, 1)} ms`);
      if (at(inputs, 0.95) > (inputs.length > FEW ? KEY : CLICK))
        missed.push(`${name}: input ${cell(at(inputs, 0.95))} ms`);
    }
    return missed;
  }
}

/** By what two repeats are compared. */
function cost({ most, inputs, ms }) {
  if (inputs?.length) return at(inputs, 0.95) + most;
  return most ?? ms;
}

function row(cells) {
  return cells.map((one) => one.padStart(8)).join("");
}

function cell(number, digits = 0) {
  return number === undefined ? "" : number.toFixed(digits);
}

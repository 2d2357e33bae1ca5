/** Whether a file can be sent, told before a byte of it goes. */
import { problem } from "@/api/problem";
import type { Problem } from "@/api/types";
import { bytes } from "@/show/values";

interface Given {
  name: string;
  size: number;
}

export function endingOf(name: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
}

/** What is wrong with a table to upload; null: nothing that can be seen from here. */
export function refusal(file: Given, endings: readonly string[], most: number): Problem | null {
  const ending = endingOf(file.name);
  if (!endings.includes(ending))
    return problem(
      `“${file.name}” is not a file that can be uploaded here`,
      `a file ends in ${alternatives(endings)}; a spreadsheet can be saved as CSV, and other formats can be turned into one with: compass read FILE -o runs.parquet`,
    );
  return tooLarge(file, most) ?? empty(file);
}

const PICKLES = ["pkl", "pickle", "joblib", "p"];

/** The same for a model. What a file is, its content decides; only pickles are known to be refused. */
export function modelRefusal(file: Given, most: number): Problem | null {
  if (PICKLES.includes(endingOf(file.name)))
    return problem(
      "pickled models are refused, because opening one can run anything",
      "save it as ONNX, skops, LightGBM, XGBoost, Keras or TorchScript",
    );
  return tooLarge(file, most) ?? empty(file);
}

function tooLarge(file: Given, most: number): Problem | null {
  if (file.size <= most) return null;
  return problem(
    `“${file.name}” has ${bytes(file.size)}; the server takes at most ${bytes(most)}`,
    "save it as Parquet, leave columns out, or make a sample that stands for all rows with: compass reduce",
  );
}

function empty(file: Given): Problem | null {
  if (file.size > 0) return null;
  return problem(
    `“${file.name}” is empty`,
    "choose a file with a header line and at least a few rows",
  );
}

export function alternatives(endings: readonly string[]): string {
  const dotted = endings.map((ending) => `.${ending}`);
  if (dotted.length < 2) return dotted.join("");
  return `${dotted.slice(0, -1).join(", ")} or ${dotted.at(-1)}`;
}

const LONGEST = 200;

/** A name that the server takes: no control signs, not too long, with its ending. */
export function safeName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  const clean = name.replace(/[\u0000-\u001f\u007f]/g, "_");
  return [...clean].slice(-LONGEST).join("") || "data";
}

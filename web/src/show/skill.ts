/** How much a model knows beyond the simplest prediction: the same words everywhere. */
import type { EngineInfo } from "@/api/types";
import { share } from "./values";

interface Known {
  skill?: number | null;
  skilled?: boolean;
}

type Card = Pick<EngineInfo["models"][number], "target"> &
  Known & { scores?: readonly (Known & { status: string })[] };

/** What is known of the model itself, or of its family when it was chosen. */
function known(card: Card): Known {
  if (typeof card.skill === "number") return card;
  return card.scores?.find((one) => one.status === "chosen") ?? card;
}

/** "skill 0.84: it saves 84 % of the error of the simplest prediction"; null: it was not measured. */
export function skillWords(card: Card): string | null {
  const { skill, skilled = true } = known(card);
  if (typeof skill !== "number") return skilled ? null : NOT_BETTER;
  const told = `skill ${skill.toFixed(2)}`;
  if (!skilled) return `${told}: ${NOT_BETTER}`;
  return `${told}: it saves ${share(Math.max(0, skill))} of the error of the simplest prediction`;
}

const NOT_BETTER =
  "it is not clearly better than the simplest prediction, so nothing it predicts is trusted";

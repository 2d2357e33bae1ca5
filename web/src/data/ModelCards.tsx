import { Text } from "@mantine/core";
import type { EngineInfo } from "@/api/types";
import { Meaning } from "@/show/Meaning";
import { errorMeans, errorSentence } from "@/show/modelError";
import { notLearntSentence } from "@/show/outcomes";
import { skillWords } from "@/show/skill";
import css from "./data.module.css";

const MOST = 4;

/** How well each outcome is predicted, in a line each, and which are not learnt yet. */
export function ModelCards({ engine }: { engine: EngineInfo }) {
  const cards = engine.models ?? [];
  const later = notLearntSentence(engine);
  if (!cards.length && !later) return null;
  return (
    <ul className={css.cards} aria-label="How well it predicts">
      {cards.slice(0, MOST).map((card) => (
        <li key={card.target}>
          <Text size="sm" fw={600} className={css.name}>
            {card.target}
          </Text>
          <Meaning of={errorMeans([card])}>
            <Text size="sm" c="dimmed">
              {card.family}, {errorSentence(card)}
            </Text>
          </Meaning>
          {skillWords(card) ? (
            <Text size="xs" c="dimmed">
              {skillWords(card)}
            </Text>
          ) : null}
        </li>
      ))}
      {cards.length > MOST ? (
        <li>
          <Text size="sm" component="span" c="dimmed">
            and {cards.length - MOST} more outcomes
          </Text>
        </li>
      ) : null}
      {later ? (
        <li>
          <Text size="sm" component="span" c="dimmed">
            {later}
          </Text>
        </li>
      ) : null}
    </ul>
  );
}

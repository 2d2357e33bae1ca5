import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Answer, Suggestion } from "@/api/types";
import { Fold } from "@/show/Fold";
import { Section } from "@/show/Section";
import { GoalList } from "./GoalList";
import { asked } from "./goals";
import { outcomeInWords } from "./headline";
import classes from "./Ideas.module.css";
import { aboutIdeas, ideasTitle, whatItIs, whyNot } from "./ideas";

interface Props {
  answer: Answer;
  unit: Record<string, string>;
  onEvidence: (at: number) => void;
}

const AT_ONCE = 5;

/** Configurations that were found and are not suggested: for whoever wants to measure them. */
export function Ideas({ answer, unit, onEvidence }: Props) {
  const [count, setCount] = useState(AT_ONCE);
  const { ideas, query } = answer;
  if (ideas.length === 0) return null;
  const more = ideas.length - count;
  return (
    <Section title={ideasTitle(answer)} about={aboutIdeas(answer)}>
      <Fold
        title={ideas.length === 1 ? "1 configuration" : `${ideas.length} configurations`}
        open={query.kind === "what-if" || undefined}
      >
        <ol className={classes.list}>
          {ideas.slice(0, count).map((one, at) => (
            <li key={JSON.stringify(one.config)}>
              <Idea answer={answer} of={one} at={at} unit={unit} onEvidence={onEvidence} />
            </li>
          ))}
        </ol>
        {more > 0 ? (
          <Button size="xs" variant="default" onClick={() => setCount(count + AT_ONCE)}>
            Show {Math.min(more, AT_ONCE)} more of {ideas.length}
          </Button>
        ) : null}
      </Fold>
    </Section>
  );
}

interface IdeaProps extends Props {
  of: Suggestion;
  at: number;
}

function Idea({ answer, of, at, unit, onEvidence }: IdeaProps) {
  const told = asked(answer, of.outcomes).map((one) => outcomeInWords(one, answer.contexts));
  return (
    <Stack gap={2} className={classes.idea}>
      <Group gap="xs" justify="space-between" align="baseline">
        <Text size="sm" fw={600} className={classes.text}>
          {whatItIs(answer, of, unit)}
        </Text>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => onEvidence(at)}
          aria-label={`Evidence about idea ${at + 1}`}
        >
          Evidence
        </Button>
      </Group>
      {told.map((one) => (
        <Text key={one} size="sm" className={classes.text}>
          {one}
        </Text>
      ))}
      <GoalList answer={answer} of={of} relied={false} />
      <Text size="sm" c="dimmed" className={classes.text}>
        {whyNot(answer, of)}
      </Text>
    </Stack>
  );
}

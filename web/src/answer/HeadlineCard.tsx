import { Box, Button, Group, List, Paper, Text, Title } from "@mantine/core";
import type { Answer, Label } from "@/api/types";
import { TrustBadge } from "@/show/TrustBadge";
import { PROVED } from "./evidence/findings";
import { meeting, safer, sureness } from "./goals";
import classes from "./HeadlineCard.module.css";
import { headline, unbroken } from "./headline";
import { Mark } from "./Mark";

interface Props {
  answer: Answer;
  chosen: number;
  unit: Record<string, string>;
  onPick: (at: number) => void;
  onEvidence: (at: number) => void;
}

/** The decision in one sentence, how far it can be relied on, and what was assumed. */
export function HeadlineCard({ answer, chosen, unit, onPick, onEvidence }: Props) {
  const of = answer.suggestions[chosen];
  const label: Label | undefined = answer.population?.label ?? of?.trust.label;
  const other = safer(answer, chosen);
  const { act, outcomes } = headline(answer, chosen, unit);
  return (
    <Paper withBorder p={{ base: "md", sm: "lg" }} className={classes.card} data-label={label}>
      <Group gap="sm" mb="xs" justify="space-between">
        <Text size="sm" c="dimmed">
          {which(answer, chosen)}
        </Text>
        {label ? (
          <TrustBadge
            label={label}
            of={of ? `suggestion ${chosen + 1}` : "this answer"}
            onOpen={of ? () => onEvidence(chosen) : undefined}
          />
        ) : null}
      </Group>
      <div aria-live="polite">
        <Title order={2} className={classes.sentence}>
          {act}
          {outcomes.length ? ":" : "."}
          {outcomes.map((one, at) => (
            <Text span inherit fw={500} key={one}>
              {` ${unbroken(one)}${at < outcomes.length - 1 ? ";" : "."}`}
            </Text>
          ))}
        </Title>
        {of ? <Standing answer={answer} chosen={chosen} /> : null}
      </div>
      <Text size="sm" mt="sm" maw={820}>
        {answer.population?.reason ?? of?.trust.reason}
      </Text>
      {other === null ? null : (
        <Group gap="sm" mt="xs">
          <Text size="sm">Suggestion {other + 1} is trusted.</Text>
          <Button size="xs" variant="light" onClick={() => onPick(other)}>
            Choose suggestion {other + 1}
          </Button>
        </Group>
      )}
      <Assumed answer={answer} />
    </Paper>
  );
}

function which(answer: Answer, chosen: number): string {
  const count = answer.suggestions.length;
  if (answer.population) return "What would happen";
  if (count < 2) return answer.query.kind === "what-if" ? "What would happen" : "The suggestion";
  return `Suggestion ${chosen + 1} of ${count.toLocaleString("en-US")}`;
}

/** Whether the goal is met, and what is proved. */
function Standing({ answer, chosen }: { answer: Answer; chosen: number }) {
  const found = meeting(answer.suggestions[chosen]?.outcomes ?? []);
  const proof = answer.certificate;
  return (
    <Group gap="lg" mt="xs">
      {found ? (
        <Text size="sm">
          <Mark shape={found.met ? "✔" : "✘"} label={found.met ? "trusted" : "unsupported"}>
            {found.met ? "meets the goal" : "misses the goal"}
          </Mark>
          {found.met && found.chance !== null ? (
            <Text span c="dimmed" size="sm">{`, ${sureness(found.chance, found.several)}`}</Text>
          ) : null}
        </Text>
      ) : null}
      {proof && chosen === 0 && !answer.no_answer ? (
        <Text size="sm">
          <Mark {...PROVED[proof.status]}>{proof.status}</Mark>
          <Text span c="dimmed" size="sm">{`: ${proof.reason}`}</Text>
        </Text>
      ) : null}
    </Group>
  );
}

/** What was assumed about everything that the question does not say, and notes. */
export function Assumed({ answer }: { answer: Answer }) {
  const { context, notes, comparable, provenance } = answer;
  const told = [
    context,
    comparable?.reason ?? "",
    provenance.sample ? `The data is ${provenance.sample}.` : "",
    ...notes,
  ].filter(Boolean);
  if (told.length === 0) return null;
  return (
    <Box mt="md" className={classes.assumed}>
      <List size="sm" spacing={2} c="dimmed">
        {told.map((one) => (
          <List.Item key={one} className={classes.wrap}>
            {one}
          </List.Item>
        ))}
      </List>
    </Box>
  );
}

import { Box, Button, Group, List, Paper, Stack, Text, Title } from "@mantine/core";
import { isPending } from "@/api/answers";
import type { Answer, Label, Query } from "@/api/types";
import { TrustBadge } from "@/show/TrustBadge";
import { Breaks } from "./Breaks";
import { proofMark } from "./evidence/findings";
import { GoalList } from "./GoalList";
import { safer } from "./goals";
import classes from "./HeadlineCard.module.css";
import { headline, unbroken } from "./headline";
import { Mark } from "./Mark";

interface Props {
  answer: Answer;
  chosen: number;
  unit: Record<string, string>;
  onPick: (at: number) => void;
  onEvidence: (at: number) => void;
  /** Asks another question; undefined: the engine is gone. */
  onInstead?: (query: Query) => void;
  busy: boolean;
}

/** The decision in one sentence, how far it can be relied on, and what was assumed. */
export function HeadlineCard(props: Props) {
  const { answer, chosen, unit, onPick, onEvidence, onInstead, busy } = props;
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
      {of ? <Breaks of={of} query={answer.query} onKeep={onInstead} busy={busy} /> : null}
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

/** What becomes of each goal, and what is proved. */
function Standing({ answer, chosen }: { answer: Answer; chosen: number }) {
  const of = answer.suggestions[chosen];
  if (of === undefined) return null;
  const proof = chosen === 0 ? answer.certificate : null;
  const mark = proof ? proofMark(proof, of) : null;
  return (
    <Stack gap={2} mt="xs">
      <GoalList answer={answer} of={of} relied />
      {proof && mark ? (
        <Text size="sm">
          <Mark {...mark}>{proof.status}</Mark>
          <Text span c="dimmed" size="sm">{`: ${proof.reason}`}</Text>
        </Text>
      ) : null}
      {chosen === 0 ? <ProofPending answer={answer} /> : null}
    </Stack>
  );
}

/** That a proof is still to come. */
export function ProofPending({ answer }: { answer: Answer }) {
  if (!isPending(answer, "proof")) return null;
  return (
    <Text size="sm" c="dimmed" role="status">
      Being proved: whether anything better exists is still worked out.
    </Text>
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

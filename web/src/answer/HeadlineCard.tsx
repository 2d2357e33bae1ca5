import { Box, Button, Group, List, Paper, Stack, Text, Title, Tooltip } from "@mantine/core";
import { isPending } from "@/api/answers";
import type { Answer, Certificate, Label, Query, Suggestion } from "@/api/types";
import { Fold } from "@/show/Fold";
import { TrustBadge } from "@/show/TrustBadge";
import { BestMeasuredNote } from "./BestMeasuredNote";
import { Breaks } from "./Breaks";
import { proofMark } from "./evidence/findings";
import { GoalList } from "./GoalList";
import { certainty, gainOf } from "./gain";
import { safer } from "./goals";
import classes from "./HeadlineCard.module.css";
import { firstSentence, headline, unbroken } from "./headline";
import { Mark } from "./Mark";

const PROOF_MEANS: Record<Certificate["status"], string> = {
  optimal: "proved to be the best under the model",
  infeasible: "proved that nothing else is possible",
  "best found": "the best that was found",
  "no proof": "not proved to be the best",
};

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
  const reason = answer.population?.reason ?? of?.trust.reason ?? "";
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
      {of ? <GainLine answer={answer} of={of} unit={unit} /> : null}
      <Text size="sm" mt={6} maw={820} className={classes.wrap}>
        {unbroken(firstSentence(reason))}
      </Text>
      <BestMeasuredNote answer={answer} unit={unit} onInstead={onInstead} busy={busy} />
      {of ? <Breaks of={of} query={answer.query} onKeep={onInstead} busy={busy} /> : null}
      {other === null ? null : (
        <Group gap="sm" mt="xs">
          <Text size="sm">Suggestion {other + 1} is trusted.</Text>
          <Button size="xs" variant="light" onClick={() => onPick(other)}>
            Choose suggestion {other + 1}
          </Button>
        </Group>
      )}
      <Why
        answer={answer}
        chosen={chosen}
        rest={reason.slice(firstSentence(reason).length).trim()}
      />
    </Paper>
  );
}

/** What is gained over the best run that the person has, and whether that may be chance. */
function GainLine({ answer, of, unit }: { answer: Answer; of: Suggestion; unit: Props["unit"] }) {
  const gain = gainOf(answer, of, unit);
  if (gain === null) return null;
  const sure = certainty(gain);
  return (
    <Text mt={6} maw={820} className={classes.wrap}>
      {gain.better === null ? null : (
        <Text span inherit c={gain.better ? "var(--trusted)" : "var(--unsupported)"} aria-hidden>
          {gain.inside ? "≈ " : gain.better ? "✔ " : "✘ "}
        </Text>
      )}
      <Text span inherit fw={600}>
        {unbroken(gain.text)}
      </Text>
      {`: ${gain.run}.`}
      {sure ? (
        <Text span inherit c="dimmed">
          {` ${sure}`}
        </Text>
      ) : null}
    </Text>
  );
}

/** Everything else that speaks for and against it, for whoever wants to know. */
function Why({ answer, chosen, rest }: { answer: Answer; chosen: number; rest: string }) {
  const proof = chosen === 0 ? answer.certificate : null;
  const told = assumed(answer);
  if (!rest && !proof && told.length === 0) return null;
  return (
    <Box mt="sm">
      <Fold title="Why, and what was assumed">
        <Stack gap="xs" pt={4}>
          {rest ? (
            <Text size="sm" maw={820} className={classes.wrap}>
              {rest}
            </Text>
          ) : null}
          {proof ? (
            <Text size="sm" maw={820} className={classes.wrap}>
              {`The search: ${proof.reason}`}
            </Text>
          ) : null}
          <Told all={told} />
        </Stack>
      </Fold>
    </Box>
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
        <Tooltip label={proof.reason} multiline maw={320}>
          <Text size="sm" w="fit-content">
            <Mark {...mark}>{PROOF_MEANS[proof.status]}</Mark>
          </Text>
        </Tooltip>
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
function assumed({ context, notes, comparable, provenance }: Answer): string[] {
  return [
    context,
    comparable?.reason ?? "",
    provenance.sample ? `The data is ${provenance.sample}.` : "",
    ...notes,
  ].filter(Boolean);
}

export function Assumed({ answer }: { answer: Answer }) {
  const told = assumed(answer);
  if (told.length === 0) return null;
  return (
    <Box mt="md" className={classes.assumed}>
      <Told all={told} />
    </Box>
  );
}

function Told({ all }: { all: readonly string[] }) {
  return (
    <List size="sm" spacing={2} c="dimmed">
      {all.map((one) => (
        <List.Item key={one} className={classes.wrap}>
          {one}
        </List.Item>
      ))}
    </List>
  );
}

import { Anchor, Box, Button, Code, Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Answer, AnswerView, Query } from "@/api/types";
import { href } from "@/app/route";
import { percent } from "@/query/describe";
import { about } from "@/show/values";
import { GoalList } from "./GoalList";
import { asked } from "./goals";
import { Assumed, ProofPending } from "./HeadlineCard";
import headlineClasses from "./HeadlineCard.module.css";
import { outcomeInWords } from "./headline";
import { firstRun, whatItIs } from "./ideas";
import { loosened, type Nearest, nearest, type Obstacle, obstacles } from "./instead";
import { whyNone } from "./standing";

interface Props {
  view: AnswerView;
  unit: Record<string, string>;
  /** Goes to another question; undefined: the engine is gone. */
  onInstead?: (query: Query) => void;
  busy: boolean;
}

const IN_THE_WAY = { condition: "your condition", goal: "your goal", rule: "a rule of the data" };

/** Why there is no supported answer, what comes closest, and every way on from here. */
export function NoAnswer({ view, unit, onInstead, busy }: Props) {
  const { answer } = view;
  const found = obstacles(answer);
  const reachable = nearest(answer);
  const blocking = toldElsewhere(found, reachable) ? [] : found;
  return (
    <Paper
      withBorder
      p={{ base: "md", sm: "lg" }}
      className={headlineClasses.card}
      data-label="unsupported"
    >
      <Text size="sm" c="dimmed" mb="xs">
        No supported answer
      </Text>
      <Title order={2} className={headlineClasses.sentence}>
        {whyNone(answer)}
      </Title>
      <Text mt="xs" maw={820} style={{ overflowWrap: "anywhere" }}>
        {answer.no_answer}
      </Text>
      <ProofPending answer={answer} />
      <Stack gap="md" mt="md">
        <Closest answer={answer} unit={unit} />
        <MeasureFirst answer={answer} unit={unit} />
        {reachable.length > 0 ? (
          <Reachable answer={answer} found={reachable} onPick={onInstead} busy={busy} />
        ) : null}
        {blocking.length > 0 ? <InTheWay found={blocking} onPick={onInstead} busy={busy} /> : null}
        <WaysOn view={view} live={onInstead !== undefined} />
      </Stack>
      <Assumed answer={answer} />
    </Paper>
  );
}

/** The only goal of the question, where what can be reached instead is said already. */
function toldElsewhere(found: readonly Obstacle[], reachable: readonly Nearest[]): boolean {
  const [first, ...others] = found;
  return (
    first?.what === "goal" && first.without === null && others.length === 0 && reachable.length > 0
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Box component="section" aria-label={title}>
      <Title order={3} size="h5" mb={4}>
        {title}
      </Title>
      {children}
    </Box>
  );
}

interface ToldProps {
  answer: Answer;
  unit: Record<string, string>;
}

/** The first idea, which is no suggestion, and how likely it meets each goal. */
function Closest({ answer, unit }: ToldProps) {
  const [first] = answer.ideas;
  if (first === undefined) return null;
  const told = asked(answer, first.outcomes).map((one) => outcomeInWords(one, answer.contexts));
  return (
    <Part title={answer.query.kind === "what-if" ? "What is predicted" : "What comes closest"}>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {`${whatItIs(answer, first, unit)}: ${told.join("; ")}.`}
      </Text>
      <GoalList answer={answer} of={first} relied={false} />
    </Part>
  );
}

/** The run that would tell most. */
function MeasureFirst({ answer, unit }: ToldProps) {
  const told = firstRun(answer, unit);
  if (told === null) return null;
  return (
    <Part title="What to measure first">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {told}
      </Text>
      <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
        {answer.run_next[0]?.why}
      </Text>
    </Part>
  );
}

interface ReachableProps {
  answer: Answer;
  found: Nearest[];
  onPick?: (query: Query) => void;
  busy: boolean;
}

function Reachable({ answer, found, onPick, busy }: ReachableProps) {
  const other = loosened(answer);
  const chance = typeof answer.chance === "number" ? percent(answer.chance) : null;
  return (
    <Part title="What can be reached">
      {found.map(({ outcome, predicted, sure, unit }) => (
        <Text size="sm" key={outcome}>
          {outcome}:
          {predicted === null ? null : (
            <>
              {" predicted at best "}
              <Text span fw={600} inherit>
                {about(predicted, unit)}
              </Text>
              {sure === null ? "." : ";"}
            </>
          )}
          {sure === null ? null : (
            <>
              {` with a chance of ${chance} at best `}
              <Text span fw={600} inherit>
                {about(sure, unit)}
              </Text>
              .
            </>
          )}
        </Text>
      ))}
      {other && onPick ? (
        <Button
          size="xs"
          variant="light"
          mt="xs"
          loading={busy}
          onClick={() => onPick(other.query)}
          styles={{ root: { height: "auto", minHeight: 30 }, label: { whiteSpace: "normal" } }}
        >
          Ask for {other.goals} instead
        </Button>
      ) : null}
    </Part>
  );
}

interface InTheWayProps {
  found: Obstacle[];
  onPick?: (query: Query) => void;
  busy: boolean;
}

function InTheWay({ found, onPick, busy }: InTheWayProps) {
  return (
    <Part title={found.length === 1 ? "What stands in the way" : "These cannot all hold together"}>
      <Stack gap={6}>
        {found.map((one) => (
          <Group key={one.text} gap="sm">
            <Code fz="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
              {one.text}
            </Code>
            <Text size="sm" c="dimmed">
              {one.takes ? `${IN_THE_WAY[one.what]}, ${one.takes}` : IN_THE_WAY[one.what]}
            </Text>
            {one.without && onPick ? (
              <Button
                size="xs"
                variant="default"
                loading={busy}
                onClick={() => one.without && onPick(one.without)}
                aria-label={`Take it back: ${one.text}`}
              >
                Take it back
              </Button>
            ) : null}
          </Group>
        ))}
      </Stack>
    </Part>
  );
}

/** Where to look next on this page, or a question to begin again from. */
function WaysOn({ view, live }: { view: AnswerView; live: boolean }) {
  const { answer } = view;
  const change = href({ page: "ask", engine: view.engine, question: answer.text });
  return (
    <Text size="sm">
      {answer.run_next.length > 0
        ? "The runs below would tell most about it; measure them and give the results back. "
        : ""}
      {live ? (
        <>
          {answer.run_next.length > 0 ? "Or " : "You can "}
          <Anchor href={change} underline="always">
            change the question
          </Anchor>
          .
        </>
      ) : null}
    </Text>
  );
}

import { Anchor, Box, Button, Code, Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { AnswerView, Query } from "@/api/types";
import { href } from "@/app/route";
import { ProblemNote } from "@/show/ProblemNote";
import { about } from "@/show/values";
import { Assumed } from "./HeadlineCard";
import headlineClasses from "./HeadlineCard.module.css";
import { type Nearest, nearest, type Obstacle, obstacles } from "./instead";
import { whyNone } from "./standing";
import { useInstead } from "./useInstead";

interface Props {
  view: AnswerView;
  /** Whether the engine is still there to be asked otherwise. */
  live: boolean;
}

const IN_THE_WAY = { condition: "your condition", goal: "your goal", rule: "a rule of the data" };

/** Why there is no supported answer, and every way on from here. */
export function NoAnswer({ view, live }: Props) {
  const { answer } = view;
  const instead = useInstead(view.engine);
  const found = obstacles(answer);
  const reachable = nearest(answer, answer.certificate);
  const blocking = toldElsewhere(found, reachable) ? [] : found;
  const pick = live ? (query: Query) => instead.mutate(query) : undefined;
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
      <Stack gap="md" mt="md">
        {reachable.length > 0 ? (
          <Reachable found={reachable} onPick={pick} busy={instead.isPending} />
        ) : null}
        {blocking.length > 0 ? (
          <InTheWay found={blocking} onPick={pick} busy={instead.isPending} />
        ) : null}
        {instead.error ? <ProblemNote error={instead.error} /> : null}
        <WaysOn view={view} live={live} />
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

interface ReachableProps {
  found: Nearest[];
  onPick?: (query: Query) => void;
  busy: boolean;
}

function Reachable({ found, onPick, busy }: ReachableProps) {
  return (
    <Box component="section" aria-label="What can be reached">
      <Title order={3} size="h5" mb={4}>
        What can be reached
      </Title>
      {found.map((one) => (
        <Group key={one.outcome} gap="md">
          <Text size="sm">
            {one.outcome} can reach{" "}
            <Text span fw={600} inherit>
              {about(one.value, one.unit)}
            </Text>
          </Text>
          {one.instead && onPick ? (
            <Button
              size="xs"
              variant="light"
              loading={busy}
              onClick={() => one.instead && onPick(one.instead)}
            >
              Ask for {one.goal} instead
            </Button>
          ) : null}
        </Group>
      ))}
    </Box>
  );
}

interface InTheWayProps {
  found: Obstacle[];
  onPick?: (query: Query) => void;
  busy: boolean;
}

function InTheWay({ found, onPick, busy }: InTheWayProps) {
  return (
    <Box component="section" aria-label="What stands in the way">
      <Title order={3} size="h5" mb={4}>
        {found.length === 1 ? "What stands in the way" : "These cannot all hold together"}
      </Title>
      <Stack gap={6}>
        {found.map((one) => (
          <Group key={one.text} gap="sm">
            <Code fz="sm" style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>
              {one.text}
            </Code>
            <Text size="sm" c="dimmed">
              {IN_THE_WAY[one.what]}
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
    </Box>
  );
}

function WaysOn({ view, live }: Props) {
  const { answer } = view;
  const [runs, some] = [answer.run_next.length > 0, answer.suggestions.length > 0];
  const change = href({ page: "ask", engine: view.engine, question: answer.text });
  return (
    <Text size="sm">
      {runs
        ? "The runs below would tell most about it; measure them and give the results back. "
        : ""}
      {some ? `Below${runs ? " them" : ""} is the closest that was found. ` : ""}
      {live ? (
        <>
          Or{" "}
          <Anchor href={change} underline="always">
            change the question
          </Anchor>
          .
        </>
      ) : null}
    </Text>
  );
}

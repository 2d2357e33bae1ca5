import { Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useCallback } from "react";
import { useAnswer } from "@/api/answers";
import { $api } from "@/api/client";
import { Failed } from "@/api/problem";
import type { AnswerView, EngineInfo } from "@/api/types";
import { go, href } from "@/app/route";
import { askAgain } from "@/query/again";
import { nameOf } from "@/show/names";
import { ProblemNote } from "@/show/ProblemNote";
import { moment } from "@/show/values";
import { AnswerPane } from "./AnswerPane";

/** One answer by itself, with the question on top. */
export function AnswerPage({ answer }: { answer: string }) {
  const { view, failed } = useAnswer(answer);
  const asked = view.data?.engine ?? "";
  const engine = $api.useQuery(
    "get",
    "/api/v1/engines/{id}",
    { params: { path: { id: asked } } },
    { enabled: asked !== "", retry: (failures, error) => !isGone(error) && failures < 3 },
  );
  const question = view.data?.answer.text;
  const toRules = useCallback(
    (rules: string[]) => go({ page: "ask", engine: asked, question, rules }),
    [asked, question],
  );
  const toTold = useCallback((made: string) => askAgain(made, question), [question]);
  if (isGone(view.error)) return <Gone />;
  if (view.error)
    return (
      <Stack>
        <Title order={1} size="h3">
          This answer cannot be shown
        </Title>
        <ProblemNote error={view.error} onAgain={() => view.refetch()} />
      </Stack>
    );
  const gone = isGone(engine.error);
  if (!view.data || (!engine.data && !engine.error)) return <Loading />;
  return (
    <Stack gap="lg">
      <Question view={view.data} engine={engine.data ?? null} />
      {engine.error && !gone ? (
        <ProblemNote error={engine.error} onAgain={() => engine.refetch()} />
      ) : null}
      <AnswerPane
        view={view.data}
        incomplete={failed}
        engine={engine.data ?? null}
        onRules={toRules}
        onTold={toTold}
      />
    </Stack>
  );
}

/** Deleted, which is no failure: the answer is still there. */
function isGone(error: unknown): boolean {
  return error instanceof Failed && error.status === 404;
}

function Question({ view, engine }: { view: AnswerView; engine: EngineInfo | null }) {
  const question = view.answer.text;
  return (
    <div>
      <Text size="sm" c="dimmed">
        Asked {moment(view.created)}
        {engine ? ` of ${nameOf(engine)}` : ""}
      </Text>
      <Title
        order={1}
        fz={{ base: "md", sm: "lg" }}
        lh={1.45}
        fw={500}
        mt={2}
        maw={1000}
        style={{ overflowWrap: "anywhere" }}
      >
        {question}
      </Title>
      {engine ? (
        <Group mt="xs">
          <Anchor size="sm" href={href({ page: "ask", engine: engine.id, question })}>
            Change the question
          </Anchor>
        </Group>
      ) : null}
    </div>
  );
}

/** A link to an answer that is not kept here. */
function Gone() {
  return (
    <Stack align="start">
      <Title order={1} size="h2">
        This answer is not here
      </Title>
      <Text>It was deleted, or it is in somebody else's workspace.</Text>
      <Button component="a" href={href({ page: "history" })}>
        What was asked here before
      </Button>
    </Stack>
  );
}

function Loading() {
  return (
    <Stack gap="lg" role="status" aria-busy="true" aria-label="Loading the answer">
      <Skeleton height={28} width="70%" />
      <Skeleton height={160} />
      <Skeleton height={240} />
    </Stack>
  );
}

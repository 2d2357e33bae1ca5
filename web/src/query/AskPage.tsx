import { Anchor, Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useRef } from "react";
import { useAnswer } from "@/api/answers";
import { $api } from "@/api/client";
import { over } from "@/api/jobs";
import { useList } from "@/api/lists";
import { Failed } from "@/api/problem";
import type { Draft, EngineInfo } from "@/api/types";
import { go, href, repeating } from "@/app/route";
import { ChatPane } from "@/chat/ChatPane";
import { Held } from "@/show/Held";
import { JobProgress } from "@/show/JobProgress";
import { Meaning } from "@/show/Meaning";
import { errorMeans } from "@/show/modelError";
import { nameOf } from "@/show/names";
import { notLearntSentence } from "@/show/outcomes";
import { ProblemNote } from "@/show/ProblemNote";
import { count } from "@/show/values";
import { askAgain } from "./again";
import { withRules } from "./draft";
import { examples } from "./examples";
import type { AskRoute } from "./moves";
import classes from "./page.module.css";
import { QuestionCard } from "./QuestionCard";
import { quality } from "./quality";
import { ASKING, sameQuestion } from "./standing";
import { overtaken } from "./talk";
import { failureOf, type Talking, useTalk } from "./useTalk";

const AnswerPane = lazy(async () => ({
  default: (await import("@/answer/AnswerPane")).AnswerPane,
}));

const Overview = lazy(async () => ({
  default: (await import("@/overview/Overview")).Overview,
}));

/** One asks here: in a conversation, in a sentence, or by a link. */
export function AskPage({ route }: { route: AskRoute }) {
  const engine = $api.useQuery("get", "/api/v1/engines/{id}", {
    params: { path: { id: route.engine } },
  });
  if (engine.data) return <Asking route={route} engine={engine.data} />;
  // 422: what stands in the address is no name of an engine at all.
  const unknown = engine.error instanceof Failed && [404, 422].includes(engine.error.status);
  if (unknown) return <Elsewhere route={route} />;
  if (engine.error)
    return (
      <Stack>
        <Title order={1} size="h3">
          This cannot be asked now
        </Title>
        <ProblemNote error={engine.error} onAgain={() => engine.refetch()} />
      </Stack>
    );
  return <Loading />;
}

function Loading() {
  return (
    <Stack gap="lg" role="status" aria-busy="true" aria-label="Loading">
      <Skeleton height={36} width={280} />
      <div className={classes.layout}>
        <Skeleton className={classes.question} height={180} />
        <Skeleton className={classes.chat} />
      </div>
    </Stack>
  );
}

/** The link names an engine of somebody else: the same data may have been brought here too. */
function Elsewhere({ route }: { route: AskRoute }) {
  const engines = useList("/api/v1/engines");
  const same = engines.data?.find((one) => one.fingerprint === route.data);
  useEffect(() => {
    if (route.data && same) go({ ...route, engine: same.id }, true);
  }, [route, same]);
  if (route.data && (same || engines.isLoading)) return <Loading />;
  return (
    <Stack maw={620} gap="md">
      <Title order={1} size="h3">
        This link belongs to data that you do not have here
      </Title>
      <Text>
        {route.data
          ? "Bring the same file and let Compass learn from it: then the link works here too."
          : "What it was learnt from may have been deleted, or it is in somebody else's workspace."}
      </Text>
      {route.question ? (
        <Stack gap={4}>
          <Text size="sm" c="dimmed">
            The question of the link:
          </Text>
          <Text ff="monospace" size="sm" style={{ overflowWrap: "anywhere" }}>
            {route.question}
          </Text>
        </Stack>
      ) : null}
      <Group>
        <Button component="a" href={href({ page: "home" })}>
          Bring the data
        </Button>
        <Anchor href={href({ page: "history" })} size="sm">
          What was asked here before
        </Anchor>
      </Group>
    </Stack>
  );
}

function Asking({ route, engine }: { route: AskRoute; engine: EngineInfo }) {
  const talk = useTalk(route, engine);
  return (
    <Stack gap="lg">
      <Heading engine={engine} talk={talk} />
      {talk.chat ? (
        <Conversation engine={engine} talk={talk} />
      ) : talk.problem ? (
        <ProblemNote error={talk.problem} onAgain={talk.again} />
      ) : (
        <Loading />
      )}
    </Stack>
  );
}

function Heading({ engine, talk }: { engine: EngineInfo; talk: Talking }) {
  const fresh = talk.chat?.conversation.turns.every((turn) => turn.who === "compass") ?? true;
  const later = notLearntSentence(engine);
  return (
    <Group justify="space-between" align="flex-end" gap="xs">
      <div style={{ minWidth: 0 }}>
        <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
          Ask about {nameOf(engine)}
        </Title>
        <Meaning of={errorMeans(engine.models)}>
          <Text size="sm" c="dimmed" mt={2}>
            {engine.dataset ? (
              <Anchor
                href={href({ page: "data", dataset: engine.dataset })}
                inherit
                underline="always"
              >
                {count(engine.rows, "past run")}
              </Anchor>
            ) : (
              count(engine.rows, "past run")
            )}
            {engine.models.length ? ` · ${quality(engine)}` : ""}
            {later ? ` · ${later}` : ""}
          </Text>
        </Meaning>
      </div>
      {fresh ? null : (
        <Button
          variant="default"
          size="xs"
          disabled={talk.busy}
          onClick={() => go({ page: "ask", engine: engine.id })}
        >
          New conversation
        </Button>
      )}
    </Group>
  );
}

function Conversation({ engine, talk }: { engine: EngineInfo; talk: Talking }) {
  const { chat, draft, job, say } = talk;
  if (chat === null || draft === null) return null;
  const running = !!chat.job && !(job && over(job));
  const busy = talk.busy || running;
  const shown = talk.answers.get(chat.question) ?? chat.answer ?? null;
  const failure = running ? null : failureOf(chat, job, talk.busy);
  const answered = shown !== null && talk.answers.get(chat.question) === shown;
  const asking =
    running || (talk.pending !== null && !!chat.reply.query && talk.pending === ASKING);
  const changed = overtaken(chat);
  const begin = (draft: Draft) => {
    talk.edit(draft);
    document.getElementById("main")?.scrollIntoView();
  };
  return (
    <div className={classes.layout}>
      <div className={classes.question}>
        <QuestionCard
          engine={engine}
          draft={draft}
          reply={chat.reply}
          question={chat.question}
          busy={busy}
          overtaken={changed && running}
          answered={answered}
          failure={failure}
          refusal={talk.refused ? talk.problem : null}
          link={chat.question ? repeating(engine, chat.question) : null}
          onEdit={talk.edit}
          onSay={say}
          onAsk={() => void talk.ask()}
          onDrop={talk.drop}
        />
        {asking ? (
          <JobProgress
            job={job}
            title={`Looking for the answer${changed ? " to the question as it was asked" : ""}`}
            {...(running ? { onCancel: talk.cancel } : {})}
          />
        ) : null}
        {talk.uncancelled ? <ProblemNote error={talk.uncancelled} onAgain={talk.cancel} /> : null}
        {changed && job?.state === "failed" && job.problem ? (
          <Stack gap="xs">
            <Text size="sm">The question as it was asked could not be answered.</Text>
            <ProblemNote error={job.problem} />
          </Stack>
        ) : null}
        {shown && !asking ? (
          <Anchor
            component="button"
            type="button"
            className={classes.jump}
            onClick={() => document.getElementById("answer")?.scrollIntoView()}
          >
            Go to the answer
          </Anchor>
        ) : null}
      </div>
      <div className={classes.chat}>
        <ChatPane
          chat={chat}
          busy={busy}
          onSay={say}
          problem={talk.refused ? null : talk.problem}
          onAgain={talk.again}
          pending={talk.pending}
          examples={examples(engine.space)}
        />
      </div>
      <AnswerPlace asking={asking}>
        {shown ? <Answered id={shown} engine={engine} talk={talk} /> : null}
        {shown || asking ? null : <Before engine={engine} onBegin={begin} />}
      </AnswerPlace>
    </div>
  );
}

/** What is known before anything is asked. */
function Before({ engine, onBegin }: { engine: EngineInfo; onBegin: (draft: Draft) => void }) {
  return (
    <Held>
      <Suspense
        fallback={<Skeleton height={420} role="status" aria-label="Loading the overview" />}
      >
        <Overview engine={engine} onBegin={onBegin} />
      </Suspense>
    </Held>
  );
}

/** The button that asked is gone with the question: whoever pressed it goes on at the answer. */
function AnswerPlace({ asking, children }: { asking: boolean; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const before = useRef(asking);
  useEffect(() => {
    const nowhere = document.activeElement === null || document.activeElement === document.body;
    if (before.current && !asking && nowhere) place.current?.focus({ preventScroll: true });
    before.current = asking;
  }, [asking]);
  return (
    <div className={classes.answer} id="answer" ref={place} tabIndex={-1}>
      {children}
    </div>
  );
}

function Answered({ id, engine, talk }: { id: string; engine: EngineInfo; talk: Talking }) {
  const { view, failed } = useAnswer(id);
  const { draft, edit } = talk;
  const question = view.data?.answer.text;
  // The same ones while nothing changes: a long answer is not made again at each word that is said.
  const latest = useRef(draft);
  useEffect(() => {
    latest.current = draft;
  });
  const toRules = useCallback(
    (rules: string[]) => latest.current && edit(withRules(latest.current, rules)),
    [edit],
  );
  const toTold = useCallback((made: string) => askAgain(made, question), [question]);
  if (view.error instanceof Failed && view.error.status === 404) return null; // deleted meanwhile
  if (view.error && !view.data)
    return <ProblemNote error={view.error} onAgain={() => view.refetch()} />;
  if (!view.data) return <Skeleton height={360} role="status" aria-label="Loading the answer" />;
  const { text } = view.data.answer;
  const earlier = !sameQuestion(text, talk.chat?.question ?? "");
  return (
    <Stack gap="md">
      {earlier ? (
        <div className={classes.earlier} role="status">
          <Text size="sm" fw={650}>
            ▲ Answer to the question as it was asked, before it was changed
          </Text>
          <Text size="sm" c="var(--mantine-color-text)" mt={2} style={{ overflowWrap: "anywhere" }}>
            {text}
          </Text>
        </div>
      ) : null}
      <Held at={id}>
        <Suspense
          fallback={<Skeleton height={360} role="status" aria-label="Loading the answer" />}
        >
          <AnswerPane
            view={view.data}
            incomplete={failed}
            engine={engine}
            onRules={toRules}
            onTold={toTold}
          />
        </Suspense>
      </Held>
    </Stack>
  );
}

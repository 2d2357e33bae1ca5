import {
  Anchor,
  Badge,
  Button,
  Checkbox,
  Group,
  Skeleton,
  Stack,
  Tabs,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api } from "@/api/client";
import { useList } from "@/api/lists";
import type { AnswerInfo, ChatBrief, EngineBrief } from "@/api/types";
import { nameOf, titleOf as nameOfEngine } from "@/show/names";
import { ProblemNote } from "@/show/ProblemNote";
import { TrustBadge } from "@/show/TrustBadge";
import { bytes, count, moment } from "@/show/values";
import { Compared } from "./Compared";
import { decided, picked, toggled } from "./compare";
import classes from "./HistoryPage.module.css";
import { href } from "./route";
import { WorkspaceKey } from "./WorkspaceKey";

/** What was asked, said and learnt in this workspace. */
export function HistoryPage() {
  const answers = useList("/api/v1/answers");
  const chats = useList("/api/v1/chats");
  const engines = useList("/api/v1/engines");
  const known = new Map(engines.data?.map((one) => [one.id, nameOf(one)]));
  const said = chats.data?.filter((chat) => chat.title !== "");
  const mine = engines.data;
  const [chosen, setChosen] = useState<string[]>([]);
  return (
    <Stack gap="xl">
      <div>
        <Title order={1} size="h2">
          History
        </Title>
        <Text c="dimmed" mt={2}>
          Everything that was asked here. Nobody else sees it.
        </Text>
      </div>
      <Tabs defaultValue="answers" keepMounted={false}>
        <Tabs.List>
          <Tab value="answers" label="Answers" number={answers.data?.length} />
          <Tab value="chats" label="Conversations" number={said?.length} />
          <Tab value="engines" label="Engines" number={mine?.length} />
        </Tabs.List>
        <Tabs.Panel value="answers" pt="md">
          <Listed
            of={answers}
            items={answers.data}
            empty="No answers yet. Ask something, and its answer is kept here."
          >
            {(one) => (
              <AnswerRow
                key={one.id}
                answer={one}
                engine={known.get(one.engine)}
                chosen={chosen.includes(one.id)}
                onChoose={() => setChosen(toggled(chosen, one.id))}
              />
            )}
          </Listed>
          <Compared answers={picked(answers.data ?? [], chosen)} engines={known} />
        </Tabs.Panel>
        <Tabs.Panel value="chats" pt="md">
          <Listed of={chats} items={said} empty="No conversations yet.">
            {(one) => <ChatRow key={one.id} chat={one} engine={known.get(one.engine)} />}
          </Listed>
        </Tabs.Panel>
        <Tabs.Panel value="engines" pt="md">
          <Listed
            of={engines}
            items={mine}
            empty="No engines yet. Bring a table, and Compass learns from it."
          >
            {(one) => <EngineRow key={one.id} engine={one} />}
          </Listed>
        </Tabs.Panel>
      </Tabs>
      <WorkspaceKey />
    </Stack>
  );
}

function Tab({
  value,
  label,
  number,
}: {
  value: string;
  label: string;
  number?: number | undefined;
}) {
  return (
    <Tabs.Tab value={value}>
      {label}
      {number ? <span className={classes.number}> {number}</span> : null}
    </Tabs.Tab>
  );
}

interface ListedProps<T> {
  of: { error: unknown; refetch: () => unknown };
  items: T[] | undefined;
  empty: string;
  children: (item: T) => ReactNode;
}

const STEP = 50;

function Listed<T>({ of, items, empty, children }: ListedProps<T>) {
  const [shown, show] = useState(STEP);
  // What is known stays when it cannot be asked for again.
  if (items === undefined && of.error)
    return <ProblemNote error={of.error} onAgain={() => of.refetch()} />;
  if (items === undefined) return <Skeleton height={160} role="status" aria-label="Loading" />;
  if (items.length === 0)
    return (
      <div className={classes.empty}>
        <Text c="dimmed">{empty}</Text>
        <Button component="a" href={href({ page: "home" })} variant="default" mt="sm">
          Choose data
        </Button>
      </div>
    );
  return (
    <>
      <ul className={classes.list}>{items.slice(0, shown).map(children)}</ul>
      {items.length > shown ? (
        <Button variant="default" mt="sm" onClick={() => show(shown + 4 * STEP)}>
          Show more ({items.length - shown} left)
        </Button>
      ) : null}
    </>
  );
}

interface RowProps {
  to: string;
  title: ReactNode;
  about: ReactNode;
  /** What the row is called when it is deleted. */
  name: string;
  /** In front of it. */
  before?: ReactNode;
  onDelete?: () => Promise<unknown>;
}

function Row({ to, title, about, name, before, onDelete }: RowProps) {
  const [sure, setSure] = useState<boolean | null>(null); // null: not asked yet
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: async () => onDelete?.(),
    onSettled: () => queries.invalidateQueries(),
  });
  return (
    <li className={classes.row}>
      {before}
      <div className={classes.what}>
        <Anchor href={to} fw={500} className={classes.title}>
          {title}
        </Anchor>
        <Text size="sm" c="dimmed" component="div">
          {about}
        </Text>
        {remove.error ? <ProblemNote error={remove.error} /> : null}
      </div>
      {onDelete === undefined ? null : sure ? (
        <Group gap="xs" wrap="nowrap">
          <Button
            size="xs"
            color="red"
            loading={remove.isPending}
            onClick={() => remove.mutate()}
            autoFocus
          >
            Delete
          </Button>
          <Button size="xs" variant="default" onClick={() => setSure(false)}>
            Keep
          </Button>
        </Group>
      ) : (
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          aria-label={`Delete ${name}`}
          onClick={() => setSure(true)}
          autoFocus={sure === false} // whoever keeps it goes on where they were
        >
          Delete
        </Button>
      )}
    </li>
  );
}

interface AnswerRowProps {
  answer: AnswerInfo;
  engine: string | undefined;
  chosen: boolean;
  onChoose: () => void;
}

function AnswerRow({ answer, engine, chosen, onChoose }: AnswerRowProps) {
  const { id, text } = answer;
  const title = answer.name ?? text;
  return (
    <Row
      to={href({ page: "answer", answer: id })}
      title={title}
      name={`the answer to ${text}`}
      before={
        <Checkbox
          mt={4}
          checked={chosen}
          onChange={onChoose}
          aria-label={`Compare the answer to ${text}`}
        />
      }
      about={
        <>
          {answer.name ? <div>{text}</div> : null}
          <Group gap="xs" mt={2}>
            {answer.label ? (
              <TrustBadge label={answer.label} />
            ) : (
              <Badge variant="light" color={answer.answered ? "sea" : "gray"} tt="none" fw={550}>
                {answer.answered ? "✓ answered" : "○ no supported answer"}
              </Badge>
            )}
            <Text span inherit c="var(--mantine-color-text)">
              {decided(answer)}
            </Text>
          </Group>
          <Group gap="xs" mt={2}>
            <span>
              {moment(answer.created)} · {engine ?? "an engine that was deleted"}
            </span>
            <Called answer={answer} />
          </Group>
        </>
      }
      onDelete={() => api.DELETE("/api/v1/answers/{id}", { params: { path: { id } } })}
    />
  );
}

/** The name of an answer, to be changed where it stands. */
function Called({ answer }: { answer: AnswerInfo }) {
  const [typed, setTyped] = useState<string | null>(null); // null: it is not being changed
  const queries = useQueryClient();
  const { id } = answer;
  const call = useMutation({
    mutationFn: async (name: string | null) =>
      api.PUT("/api/v1/answers/{id}/name", { params: { path: { id } }, body: { name } }),
    onSuccess: () => setTyped(null),
    onSettled: () => queries.invalidateQueries({ queryKey: ["get", "/api/v1/answers"] }),
  });
  if (typed === null)
    return (
      <button type="button" className="textual" onClick={() => setTyped(answer.name ?? "")}>
        {answer.name ? "Rename" : "Give it a name"}
      </button>
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        call.mutate(typed.trim() || null);
      }}
    >
      <Group gap="xs">
        <TextInput
          size="xs"
          aria-label="Name of the answer"
          maxLength={200}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoFocus
        />
        <Button size="xs" type="submit" loading={call.isPending}>
          Save
        </Button>
        <Button size="xs" variant="default" onClick={() => setTyped(null)}>
          Cancel
        </Button>
      </Group>
      {call.error ? <ProblemNote error={call.error} /> : null}
    </form>
  );
}

function ChatRow({ chat, engine }: { chat: ChatBrief; engine: string | undefined }) {
  const { id, title } = chat;
  return (
    <Row
      to={href({ page: "ask", engine: chat.engine, chat: id })}
      title={title}
      name={`the conversation ${title}`}
      about={`${count(chat.messages, "message")} · ${moment(chat.created)} · ${engine ?? "an engine that was deleted"}`}
      onDelete={() => api.DELETE("/api/v1/chats/{id}", { params: { path: { id } } })}
    />
  );
}

function EngineRow({ engine }: { engine: EngineBrief }) {
  const { id } = engine;
  const size = engine.shared ? "offered to everybody" : bytes(engine.bytes);
  const remove = () => api.DELETE("/api/v1/engines/{id}", { params: { path: { id } } });
  return (
    <Row
      to={href({ page: "ask", engine: id })}
      title={nameOfEngine(engine)}
      name={`the engine ${engine.name}`}
      about={`${count(engine.rows, "past run")} · ${moment(engine.created)} · ${size}`}
      {...(engine.shared ? {} : { onDelete: remove })}
    />
  );
}

import {
  Alert,
  Button,
  Code,
  Group,
  SegmentedControl,
  Stack,
  Text,
  Title,
  UnstyledButton,
} from "@mantine/core";
import { useState } from "react";
import type { Chat, Draft, EngineInfo, Kind, Problem } from "@/api/types";
import { CopyText } from "@/show/CopyText";
import { ProblemNote } from "@/show/ProblemNote";
import { KINDS } from "./describe";
import { EMPTY, isEmpty, withKind } from "./draft";
import { Incomplete, toldParts, useParts } from "./edit/incomplete";
import { QuestionForm } from "./QuestionForm";
import { QuestionText } from "./QuestionText";
import classes from "./question.module.css";
import { SentenceView } from "./SentenceView";
import { MISSING, refused, trouble } from "./standing";

interface Props {
  engine: EngineInfo;
  draft: Draft;
  reply: Chat["reply"];
  /** The finished question as canonical text, or empty. */
  question: string;
  busy: boolean;
  /** Whether it was changed while its answer is looked for. */
  overtaken: boolean;
  /** Whether the question, as it stands, has its answer. */
  answered: boolean;
  /** What went wrong when it was asked. */
  failure: Problem | null;
  /** Why the last change cannot be. */
  refusal: Problem | null;
  /** A link that asks the same again. */
  link: string | null;
  onEdit: (draft: Draft) => void;
  onSay: (text: string) => Promise<boolean>;
  onAsk: () => void;
  /** Takes back the change that cannot be. */
  onDrop: () => void;
}

type View = "sentence" | "form" | "text";

/** The question as a sentence, as a form and as text: three views of one draft. */
export function QuestionCard(props: Props) {
  const { engine, draft, reply, question, busy, failure, refusal, onEdit, onSay } = props;
  const [view, setView] = useState<View>("sentence");
  const [lacking, tell] = useParts();
  const wrong = trouble(reply);
  return (
    <section className={classes.card} aria-labelledby="question-title">
      <Group justify="space-between" mb="md" gap="xs">
        <Title order={2} size="h4" id="question-title">
          Your question
        </Title>
        <SegmentedControl
          aria-label="How the question is shown"
          size="xs"
          data={[
            { value: "sentence", label: "Sentence" },
            { value: "form", label: "As a form" },
            { value: "text", label: "As text" },
          ]}
          value={view}
          onChange={(chosen) => setView(chosen as View)}
        />
      </Group>
      <Incomplete value={tell}>
        {view === "text" ? (
          <QuestionText question={question} said={reply.text} busy={busy} onSay={onSay} />
        ) : null}
        {view === "form" ? <QuestionForm engine={engine} draft={draft} onEdit={onEdit} /> : null}
      </Incomplete>
      {view !== "sentence" ? null : isEmpty(draft) ? (
        <Kinds onPick={(kind) => onEdit(withKind(EMPTY, kind))} busy={busy} />
      ) : (
        <SentenceView engine={engine} draft={draft} onEdit={onEdit} />
      )}
      {refusal ? (
        <div style={{ marginTop: 16 }}>
          <ProblemNote error={refusal} onAgain={props.onDrop} again="Undo the last change" />
        </div>
      ) : null}
      {wrong && !refusal ? (
        <Alert
          color="red"
          variant="light"
          mt="md"
          role="alert"
          title={reply.query ? "That did not work" : "This cannot be asked yet"}
        >
          <Lines text={wrong} />
          {reply.query ? null : (
            <Button
              size="xs"
              variant="default"
              mt="xs"
              disabled={busy}
              onClick={() => void onSay("undo")}
            >
              Undo the last change
            </Button>
          )}
        </Alert>
      ) : null}
      {failure && failure.code !== "cancelled" ? (
        <div style={{ marginTop: 16 }}>
          <ProblemNote error={failure} />
        </div>
      ) : null}
      {isEmpty(draft) && view === "sentence" ? null : <Foot {...props} lacking={lacking} />}
    </section>
  );
}

/** The button that asks, or what is missing before it can. */
function Foot(props: Props & { lacking: string[] }) {
  const { reply, question, busy, failure, refusal, lacking, link, onSay, onAsk } = props;
  const answered = props.answered && !refusal;
  const finished = lacking.length === 0;
  const ready = !refusal && reply.expecting === "confirm" && (!!reply.query || refused(reply));
  const words = reply.links ?? [];
  return (
    <div className={classes.foot}>
      {answered && !ready && !busy && !failure ? null : (
        <Button
          size="md"
          px="xl"
          disabled={!(ready || failure) || busy || !finished}
          onClick={onAsk}
        >
          {answered || failure ? "Ask again" : "Ask"}
        </Button>
      )}
      {reply.expecting === "columns" && words.length > 0 ? (
        <Group gap="xs">
          <Text size="sm">
            {words.map((one) => `“${one.words}” means ${one.columns.join(" or ")}`).join(", ")}?
          </Text>
          {(reply.choices ?? []).map((choice) => (
            <Button
              key={choice}
              size="xs"
              variant="default"
              disabled={busy}
              onClick={() => void onSay(choice)}
            >
              {choice === "yes" ? "Yes" : choice === "no" ? "No" : choice}
            </Button>
          ))}
        </Group>
      ) : (
        <Text size="sm" c="dimmed" role="status" flex={1} miw={180}>
          {refusal
            ? "Change what stands above."
            : finished
              ? status(props, answered)
              : toldParts(lacking)}
        </Text>
      )}
      {reply.expecting === "constraints" ? (
        <Button size="xs" variant="default" disabled={busy} onClick={() => void onSay("no")}>
          No other limits
        </Button>
      ) : null}
      {question && link ? <CopyText text={link} label="Copy link" /> : null}
    </div>
  );
}

function status({ reply, busy, failure, overtaken }: Props, answered: boolean): string {
  if (overtaken) return "The question as it was asked is being answered. Ask this one after it.";
  if (busy) return "";
  if (failure) return failure.code === "cancelled" ? "Cancelled. Nothing is lost." : "";
  if (answered) return "✓ Answered below. Change any part to ask something else.";
  if (reply.expecting === "confirm")
    return reply.query
      ? "This is exactly what will be asked."
      : refused(reply)
        ? "Change what stands above, or ask it as it is."
        : "Change what stands above.";
  return reply.expecting ? MISSING[reply.expecting] : "";
}

function Kinds({ onPick, busy }: { onPick: (kind: Kind) => void; busy: boolean }) {
  return (
    <Stack gap="sm">
      <Text>Say it in your own words in the conversation, or begin here:</Text>
      <div className={classes.kinds}>
        {Object.entries(KINDS).map(([kind, { title, meaning }]) => (
          <UnstyledButton
            key={kind}
            className={classes.kind}
            disabled={busy}
            onClick={() => onPick(kind as Kind)}
          >
            <Text fw={600}>{title}</Text>
            <Text size="sm" c="dimmed" mt={2}>
              {meaning}
            </Text>
          </UnstyledButton>
        ))}
      </div>
    </Stack>
  );
}

/** A text of several lines; one that points at a place keeps its columns. */
function Lines({ text }: { text: string }) {
  if (/\n\s*\^/.test(text))
    return (
      <Code block bg="transparent" p={0}>
        {text}
      </Code>
    );
  return (
    <Text size="sm" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
      {text}
    </Text>
  );
}

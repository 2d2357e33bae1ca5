import { Anchor, Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useEffect, useState } from "react";
import { pieces } from "@/chat/reply";
import { Pieces } from "@/chat/Turns";
import { CopyText } from "@/show/CopyText";
import { useIncomplete } from "./edit/incomplete";
import classes from "./question.module.css";
import { sameQuestion } from "./standing";

interface Props {
  question: string;
  /** What Compass said last: why a text was not understood. */
  said: string;
  busy: boolean;
  onSay: (text: string) => Promise<boolean>;
}

/** The question in the query language; another one can be written. */
export function QuestionText({ question, said, busy, onSay }: Props) {
  const [text, setText] = useState(question);
  const [tried, setTried] = useState("");
  useEffect(() => setText((now) => question || now), [question]);
  const changed = text.trim() !== "" && !sameQuestion(text, question);
  useIncomplete(changed ? "the text above is not used yet" : null);
  return (
    <Stack gap="xs">
      <Textarea
        label="In the query language"
        description="Exactly what is asked, to copy, change and keep"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        autosize
        minRows={3}
        maxRows={14}
        spellCheck={false}
        placeholder="Recommend a configuration X = {threads: ?} to achieve Y = {runtime: minimize}"
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
      />
      {changed && !busy && tried === text.trim() ? (
        <div role="alert" className={classes.wrong}>
          <Pieces all={pieces(said)} />
        </div>
      ) : null}
      <Group gap="sm">
        <Button
          size="xs"
          disabled={!changed || busy}
          onClick={() => void onSay(text.trim()).then((done) => done && setTried(text.trim()))}
        >
          Use this text
        </Button>
        {question ? <CopyText text={question} label="Copy" /> : null}
        {question && changed ? (
          <Anchor component="button" type="button" size="sm" onClick={() => setText(question)}>
            Back to the question as it is
          </Anchor>
        ) : null}
        {question ? null : (
          <Text size="sm" c="dimmed">
            The question is not finished yet: its text appears here when it is.
          </Text>
        )}
      </Group>
    </Stack>
  );
}

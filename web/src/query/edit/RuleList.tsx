import { Button, CloseButton, Group, Stack, Text, Textarea } from "@mantine/core";
import { useEffect, useState } from "react";
import type { Draft, Space } from "@/api/types";
import { describeRule } from "../describe";
import { type Whole, withoutRule, withRule } from "../draft";
import classes from "../question.module.css";
import { useIncomplete } from "./incomplete";
import { RuleFields } from "./RuleFields";

interface Props {
  space: Space;
  draft: Whole;
  onEdit: (draft: Draft) => void;
}

/** The rules of the question as they are written. */
export function RuleList({ space, draft, onEdit }: Props) {
  const [adding, setAdding] = useState(false);
  const [next, setNext] = useState("");
  useIncomplete(adding && next ? "the new rule is not added" : null);
  function end() {
    setAdding(false);
    setNext("");
  }
  return (
    <Stack gap="sm">
      {draft.where.map((rule, at) => (
        <div key={rule} className={classes.row}>
          <RuleText
            text={rule}
            number={at + 1}
            said={describeRule(rule, space)}
            onChange={(text) => onEdit(withRule(draft, text, at))}
          />
          <CloseButton
            aria-label={`Remove rule ${at + 1}`}
            onClick={() => onEdit(withoutRule(draft, at))}
            mb={4}
          />
        </div>
      ))}
      {draft.where.length === 0 && !adding ? (
        <Text size="sm" c="dimmed">
          None. A rule is a limit that every suggestion obeys.
        </Text>
      ) : null}
      {adding ? (
        <div className={classes.entry}>
          <RuleFields space={space} text="" onChange={setNext} />
          <Group mt="sm" gap="xs">
            <Button
              size="xs"
              disabled={!next}
              onClick={() => {
                onEdit(withRule(draft, next));
                end();
              }}
            >
              Add
            </Button>
            <Button size="xs" variant="subtle" color="gray" onClick={end}>
              Leave it out
            </Button>
          </Group>
        </div>
      ) : (
        <Button
          variant="default"
          size="xs"
          onClick={() => setAdding(true)}
          style={{ alignSelf: "start" }}
        >
          Add a rule
        </Button>
      )}
    </Stack>
  );
}

interface RuleTextProps {
  text: string;
  number: number;
  said: string;
  onChange: (text: string) => void;
}

/** Sent when it is left: half a rule would only be refused. */
function RuleText({ text, number, said, onChange }: RuleTextProps) {
  const [written, setWritten] = useState(text);
  useEffect(() => setWritten(text), [text]);
  return (
    <Textarea
      label={`Rule ${number}`}
      description={said === text ? undefined : said}
      value={written}
      onChange={(event) => setWritten(event.currentTarget.value)}
      onBlur={() => written.trim() !== text && onChange(written)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.shiftKey) return;
        event.preventDefault();
        event.currentTarget.blur();
      }}
      autosize
      minRows={1}
      maxRows={5}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 13 } }}
    />
  );
}

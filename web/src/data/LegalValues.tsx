import { Button, Group, Popover, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import type { ColumnChoice, ColumnReport } from "@/api/types";
import { LEGAL_EXAMPLES, legalOf, legalText } from "./legal";
import css from "./table.module.css";

interface Props {
  report: ColumnReport;
  /** What is legal now, found in the data or said. */
  choice: ColumnChoice;
  onSay: (said: Partial<ColumnChoice>) => void;
}

/** The values that suggestions may have, to be widened or narrowed. */
export function LegalValues({ report, choice, onSay }: Props) {
  const [open, setOpen] = useState(false);
  const text = legalText(choice);
  if (text === null)
    return (
      <Text size="xs" c="dimmed" className={css.values}>
        legal: {report.legal}
      </Text>
    );
  return (
    <Popover
      opened={open}
      onChange={setOpen}
      trapFocus
      returnFocus
      withinPortal
      shadow="md"
      radius="md"
      width={320}
    >
      <Popover.Target>
        <UnstyledButton
          className={css.legal}
          aria-expanded={open}
          aria-label={`legal: ${report.legal} – legal values of ${report.name}`}
          onClick={() => setOpen(!open)}
        >
          legal: {report.legal}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown maw="calc(100vw - 24px)">
        {open ? (
          <Editor
            report={report}
            choice={choice}
            first={text}
            onSay={onSay}
            onClose={() => setOpen(false)}
          />
        ) : null}
      </Popover.Dropdown>
    </Popover>
  );
}

interface EditorProps extends Props {
  first: string;
  onClose: () => void;
}

function Editor({ report, choice, first, onSay, onClose }: EditorProps) {
  const [text, setText] = useState(first);
  const [problem, setProblem] = useState("");
  const say = (typed: string) => {
    try {
      onSay(legalOf(typed, report.kind, choice.values ?? []));
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form
      aria-label={`Legal values of ${report.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        say(text);
      }}
    >
      <Stack gap="xs">
        <TextInput
          size="sm"
          data-autofocus
          label={`Legal values of ${report.name}`}
          description={LEGAL_EXAMPLES[report.kind]}
          value={text}
          error={problem}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            setText(event.currentTarget.value);
            setProblem("");
          }}
        />
        <Text size="xs" c="dimmed">
          Suggestions have no others. Beyond what past runs had, they come with caution.
        </Text>
        <Group gap="xs" justify="end">
          <Button size="xs" variant="default" onClick={() => say("")}>
            As found
          </Button>
          <Button size="xs" type="submit">
            Use these
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

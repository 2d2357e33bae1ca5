import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { asProblem } from "@/api/problem";
import { ProblemNote } from "@/show/ProblemNote";
import css from "./data.module.css";
import type { Saved, StudyEditor } from "./useStudy";

const TOLD: Record<Saved, string> = {
  saved: "✓ Saved",
  saving: "Saving",
  wrong: "▲ Not saved",
  here: "✓ Kept in this browser",
  untouched: "",
};

/** Whether what was edited is kept, and what is wrong with it. */
export function SavedNote({ editor, shared }: { editor: StudyEditor; shared: boolean }) {
  const { problem, undo, again } = editor;
  const offline = problem ? asProblem(problem).code === "offline" : false;
  if (!shared && !problem) return null;
  return (
    <Stack gap="xs">
      {shared ? (
        <Alert variant="light" p="sm">
          <Text size="sm">
            This data is offered to everybody and stays as it is. You can change roles, units and
            rules all the same: they go along with what Compass learns for you.
          </Text>
        </Alert>
      ) : null}
      {problem ? (
        <div>
          <ProblemNote error={problem} {...(undo && !offline ? {} : { onAgain: again })} />
          {undo && !offline ? (
            <Group mt="xs">
              <Button size="xs" variant="default" onClick={undo}>
                Undo the last change
              </Button>
            </Group>
          ) : null}
        </div>
      ) : null}
    </Stack>
  );
}

export function SavedState({ saved }: { saved: Saved }) {
  return (
    <Text size="sm" c="dimmed" className={css.saved} role="status">
      {TOLD[saved]}
    </Text>
  );
}

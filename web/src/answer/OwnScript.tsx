import { Button, Group, Stack, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { raw } from "@/api/client";
import type { AnswerView } from "@/api/types";
import { Fold } from "@/show/Fold";
import { ProblemNote } from "@/show/ProblemNote";
import { TextView } from "./FileView";
import { typedScript } from "./next/keeping";
import { fileName } from "./save";

/** The script that was typed, for all answers of an engine; it is there again after a reload. */
export function useOwnScript(engine: string) {
  const [text, setText] = useState(() => typedScript.get(engine) ?? "");
  useEffect(() => typedScript.set(engine, text || null), [engine, text]);
  return { text, setText };
}

interface Props {
  view: AnswerView;
  chosen: number;
  /** Kept above: leaving the tab or choosing another suggestion loses nothing. */
  script: ReturnType<typeof useOwnScript>;
}

/** A job script of one's own, filled in with the chosen suggestion. */
export function OwnScript({ view, chosen, script }: Props) {
  const [open] = useState(script.text !== "");
  const names = Object.keys(view.answer.suggestions[0]?.config ?? {});
  return (
    <Fold title="Use a job script of your own" open={open}>
      <Stack gap="sm">
        <Textarea
          label="Your script"
          description={`Names in braces are filled in: ${names
            .slice(0, 6)
            .map((one) => `{${one}}`)
            .join(" ")}${names.length > 6 ? " ..." : ""}`}
          autosize
          minRows={4}
          maxRows={16}
          value={script.text}
          onChange={(event) => script.setText(event.currentTarget.value)}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        />
        <Filled key={chosen} view={view} chosen={chosen} template={script.text} />
      </Stack>
    </Fold>
  );
}

interface FilledProps {
  view: AnswerView;
  chosen: number;
  template: string;
}

function Filled({ view, chosen, template }: FilledProps) {
  const filled = useMutation({
    mutationFn: async (template: string) =>
      (
        await raw(`/api/v1/answers/${view.id}/exports/sbatch?suggestion=${chosen + 1}`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ template }),
        })
      ).text(),
  });
  return (
    <>
      <Group>
        <Button
          size="xs"
          variant="default"
          disabled={!template.trim()}
          loading={filled.isPending}
          onClick={() => filled.mutate(template)}
        >
          Fill it in
        </Button>
      </Group>
      {filled.error ? <ProblemNote error={filled.error} /> : null}
      {filled.data !== undefined && filled.variables === template ? (
        <TextView text={filled.data} name={fileName(view.id, "sh", "own")} label="Filled in" />
      ) : null}
    </>
  );
}

import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { api, data } from "@/api/client";
import type { ColumnsView, Study } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { keep, kept } from "./kept";
import { added, addRule, brokenBy, examples } from "./rules";
import { meaning } from "./study";
import type { StudyEditor } from "./useStudy";

interface Props {
  dataset: string;
  editor: StudyEditor;
  view: ColumnsView;
}

const PAUSE = 400;

/** A rule as it is typed: checked against the data before it is kept. */
export function NewRule({ dataset, editor, view }: Props) {
  const place = `compass.rule.${dataset}`;
  const [text, setText] = useState(() => kept<string>(place) ?? "");
  const [calm] = useDebouncedValue(text.trim(), PAUSE);
  const tried = useTried(dataset, editor.study, calm);
  const settled = calm === text.trim() && calm !== "";
  const rule = settled && tried.data ? added(view.rules ?? [], tried.data.rules ?? []) : null;
  useEffect(() => keep(place, text || null), [place, text]);
  // Enter before the check has come back: the rule is added as soon as it has.
  const [hurried, hurry] = useState("");
  const { edit } = editor;
  const waiting = rule !== null && hurried === text.trim();
  useEffect(() => {
    if (!waiting || !rule) return;
    edit((now) => addRule(now, rule.text));
    hurry("");
    setText("");
  }, [waiting, rule, edit]);
  function add(event: FormEvent) {
    event.preventDefault();
    hurry(text.trim());
  }
  const offered = examples(view.columns, editor.study);
  return (
    <Stack gap="xs">
      <form onSubmit={add}>
        <Group align="end" gap="xs" wrap="nowrap">
          <TextInput
            flex={1}
            label="Rule"
            placeholder={offered[0]}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            spellCheck={false}
            autoComplete="off"
            maxLength={8000}
            error={settled && tried.error ? true : undefined}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          />
          <Button type="submit" variant="default" disabled={!rule}>
            Add
          </Button>
        </Group>
      </form>
      <Text size="sm" aria-live="polite">
        {told(text, settled, tried.isFetching)}
        {rule
          ? `${brokenBy(rule, view.cleaning.rows_out)}.`.replace(/^./, (c) => c.toUpperCase())
          : ""}
        {settled && tried.data && !rule ? "This rule is already there." : ""}
      </Text>
      {settled && tried.error ? <ProblemNote error={tried.error} /> : null}
      {offered.length ? (
        <Group gap="xs" role="group" aria-label="Examples">
          <Text size="sm" c="dimmed">
            For example
          </Text>
          {offered.map((example) => (
            <Button
              key={example}
              size="compact-sm"
              variant="default"
              ff="monospace"
              fw={400}
              onClick={() => setText(example)}
            >
              {example}
            </Button>
          ))}
        </Group>
      ) : null}
    </Stack>
  );
}

function told(text: string, settled: boolean, busy: boolean): string {
  return text.trim() && (!settled || busy) ? "Checking against the data." : "";
}

function useTried(id: string, study: Study, text: string) {
  return useQuery({
    queryKey: ["rule", id, meaning(study), text],
    enabled: text !== "",
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      data(
        await api.POST("/api/v1/datasets/{id}/columns/check", {
          params: { path: { id } },
          body: { study: addRule(study, text), mine: false },
          signal,
        }),
      ),
  });
}

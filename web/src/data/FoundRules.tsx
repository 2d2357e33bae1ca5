import { Button, Code, Group, Loader, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "@/api/client";
import { ProblemNote, sentence } from "@/show/ProblemNote";
import { count, number } from "@/show/values";
import css from "./data.module.css";
import { confirm } from "./rules";
import { meaning } from "./study";
import type { StudyEditor } from "./useStudy";

interface Props {
  dataset: string;
  editor: StudyEditor;
  rows: number;
}

const SOON = 200_000; // rows that are looked through without being asked to

/** Rules that hold on all rows: offered, each kept only when it is confirmed. */
export function FoundRules({ dataset, editor, rows }: Props) {
  const [looked, setLooked] = useState(rows <= SOON);
  const { study } = editor;
  const found = useQuery({
    queryKey: ["mined", dataset, meaning({ ...study, rules: [], dependencies: [] })],
    enabled: looked && editor.settled,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) =>
      data(
        await api.POST("/api/v1/datasets/{id}/columns/check", {
          params: { path: { id: dataset } },
          body: { study, mine: true },
          signal,
        }),
      ).dependencies ?? [],
  });
  const left = (found.data ?? []).filter((one) => !study.dependencies.includes(one.text));
  if (!looked)
    return (
      <Stack gap="xs" align="start">
        <Text size="sm">
          Compass can look for dependencies between columns that hold on every row. You decide which
          of them are rules.
        </Text>
        <Button variant="default" size="xs" onClick={() => setLooked(true)}>
          Look for rules
        </Button>
      </Stack>
    );
  if (found.error) return <ProblemNote error={found.error} onAgain={() => void found.refetch()} />;
  if (!found.data)
    return (
      <Group gap="xs" aria-live="polite">
        <Loader size="xs" />
        <Text size="sm">Looking at all rows.</Text>
      </Group>
    );
  return (
    <Stack gap="xs">
      <Text size="sm" aria-live="polite">
        {left.length
          ? `${count(left.length, "dependency holds", "dependencies hold")} on every row. Confirm those that must always hold.`
          : "No further dependency was found."}
      </Text>
      {left.length ? (
        <ul className={css.list}>
          {left.map((one) => (
            <li key={one.text}>
              <Group justify="space-between" wrap="nowrap" align="start">
                <div className={css.grow}>
                  <Code className={css.name}>{one.text}</Code>
                  <Text size="sm" c="dimmed" mt={4}>
                    {sentence(one.why)} Chance of an accident: {number(one.accident)}.
                  </Text>
                </div>
                <Button
                  flex="none"
                  size="xs"
                  variant="default"
                  aria-label={`Confirm ${one.text}`}
                  onClick={() => editor.edit((now) => confirm(now, one.text))}
                >
                  Confirm
                </Button>
              </Group>
            </li>
          ))}
        </ul>
      ) : null}
    </Stack>
  );
}

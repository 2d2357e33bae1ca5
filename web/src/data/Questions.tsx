import { SimpleGrid, Text, Title, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import { inTab } from "@/api/stored";
import type { Kind } from "@/api/types";
import { FIRST_KIND } from "@/query/first";
import css from "./data.module.css";

const QUESTIONS: { kind: Kind; shape: string; what: string; example: string }[] = [
  {
    kind: "recommend",
    shape: "◎",
    what: "What configuration should I use?",
    example: "The fastest run of stencil in single precision.",
  },
  {
    kind: "reconfigure",
    shape: "⇄",
    what: "What is the smallest change that gets me there?",
    example: "Make run 12 at least 20 % faster, and change as little as possible.",
  },
  {
    kind: "what-if",
    shape: "◐",
    what: "What happens if I change this?",
    example: "What happens to the runtime of run 12 with two threads?",
  },
];

/** The three questions; the one that is picked begins the conversation. */
export function Questions() {
  // Where the browser does not keep it, the conversation asks for the kind.
  const [picked, pick] = useState(() => inTab.get(FIRST_KIND));
  function toggle(kind: Kind) {
    const next = picked === kind ? null : kind;
    inTab.set(FIRST_KIND, next);
    pick(next);
  }
  return (
    <section aria-label="The three questions">
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
        {QUESTIONS.map(({ kind, shape, what, example }) => (
          <UnstyledButton
            key={kind}
            className={css.question}
            aria-pressed={picked === kind}
            onClick={() => toggle(kind)}
          >
            <span className={css.shape} aria-hidden>
              {shape}
            </span>
            <Text component="span" fw={650} display="block">
              {kind.slice(0, 1).toUpperCase() + kind.slice(1)}
            </Text>
            <Text component="span" size="sm" display="block">
              {what}
            </Text>
            <Text component="span" size="sm" c="dimmed" display="block" mt={6}>
              “{example}”
            </Text>
          </UnstyledButton>
        ))}
      </SimpleGrid>
      <Text size="sm" c="dimmed" mt="xs" mih={22} aria-live="polite">
        {picked
          ? `You begin with ${picked}. Now choose the data.`
          : "Pick one to begin with, or choose the data and say it in your own words."}
      </Text>
    </section>
  );
}

export function SectionTitle({ children, note }: { children: string; note?: string }) {
  return (
    <div>
      <Title order={3} size="h4">
        {children}
      </Title>
      {note ? (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      ) : null}
    </div>
  );
}

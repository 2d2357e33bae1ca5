import { Button, Text, VisuallyHidden } from "@mantine/core";
import { useEffect, useRef } from "react";
import type { Chat, Problem } from "@/api/types";
import { ProblemNote } from "@/show/ProblemNote";
import { Composer } from "./Composer";
import classes from "./chat.module.css";
import { Turns } from "./Turns";

interface Props {
  chat: Chat;
  /** Whether an answer to something said is on its way: nothing can be sent. */
  busy: boolean;
  onSay: (text: string) => Promise<boolean>;
  problem: Problem | null;
  onAgain?: () => void;
  /** A message that is on its way. */
  pending?: string | null;
  /** Sentences to begin with. */
  examples?: string[];
}

/** A conversation and where one goes on with it. */
export function ChatPane({ chat, busy, onSay, problem, onAgain, pending, examples = [] }: Props) {
  const { turns, links } = chat.conversation;
  const first = turns.every((turn) => turn.who === "compass");
  const log = useRef<HTMLDivElement>(null);
  const length = turns.length + (pending ? 1 : 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was said last is in sight
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [length, chat.id, busy, problem]);
  const choices = first && examples.length > 0 ? examples : (chat.reply.choices ?? []);
  return (
    <section className={classes.pane} aria-label="Conversation">
      <VisuallyHidden component="h2">Conversation</VisuallyHidden>
      <div ref={log} className={classes.log} role="log" aria-label="What was said" tabIndex={0}>
        <Turns turns={turns} links={links} pending={pending ?? null} busy={busy} />
      </div>
      <div className={classes.foot}>
        {problem ? <ProblemNote error={problem} {...(onAgain ? { onAgain } : {})} /> : null}
        {choices.length && !busy ? (
          <fieldset className={classes.choices} style={{ border: 0, margin: 0, padding: 0 }}>
            <VisuallyHidden component="legend">Short answers</VisuallyHidden>
            {first ? (
              <Text size="xs" c="dimmed" w="100%">
                For example:
              </Text>
            ) : null}
            {choices.map((choice) => (
              <Button
                key={choice}
                size="compact-sm"
                variant="default"
                fw={400}
                h="auto"
                mih={28}
                styles={{ label: { whiteSpace: "normal", textAlign: "left", padding: "3px 0" } }}
                onClick={() => void onSay(choice)}
              >
                {choice}
              </Button>
            ))}
          </fieldset>
        ) : null}
        <Composer key={chat.id} chat={chat.id} turns={turns} busy={busy} onSay={onSay} />
      </div>
    </section>
  );
}

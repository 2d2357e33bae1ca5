import { ActionIcon, Group, Text, Textarea } from "@mantine/core";
import { type KeyboardEvent, useEffect, useState } from "react";
import { inTab } from "@/api/stored";
import { earlier, LONGEST, type Turn } from "./reply";

const NEAR = 1700;

interface Props {
  chat: string;
  turns: readonly Turn[];
  busy: boolean;
  onSay: (text: string) => Promise<boolean>;
}

/** Where one types. What was not sent is there again after a reload. */
export function Composer({ chat, turns, busy, onSay }: Props) {
  const [text, setText] = useUnsent(chat);
  const [back, setBack] = useState(0);
  const last = earlier(turns, 1);
  useEffect(() => {
    // Sent after all, by "Try again".
    setText((now) => (now.trim() === last ? "" : now));
  }, [last, setText]);

  async function send() {
    const said = text.trim();
    if (!said || busy || said.length > LONGEST) return;
    setBack(0);
    setText("");
    if (!(await onSay(said))) setText((now) => now || said);
  }

  function pressed(event: KeyboardEvent<HTMLTextAreaElement>) {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === "ArrowUp" && (text === "" || back > 0)) {
      const found = earlier(turns, back + 1);
      if (found === undefined) return;
      event.preventDefault();
      setBack(back + 1);
      setText(found);
    } else if (event.key !== "Shift") setBack(0);
  }

  return (
    <div>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <Textarea
          flex={1}
          aria-label="Say it in your own words"
          placeholder="Say it in your own words"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={pressed}
          autosize
          minRows={1}
          maxRows={7}
          autoComplete="off"
        />
        <ActionIcon
          size={36}
          aria-label="Send"
          disabled={busy || !text.trim() || text.trim().length > LONGEST}
          onClick={() => void send()}
        >
          <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden focusable="false">
            <path
              d="M12 19V5M5.5 11.5 12 5l6.5 6.5"
              fill="none"
              stroke="currentColor"
              strokeWidth="2.2"
              strokeLinecap="round"
              strokeLinejoin="round"
            />
          </svg>
        </ActionIcon>
      </Group>
      {text.length > NEAR ? (
        <Text size="xs" c={text.trim().length > LONGEST ? "red" : "dimmed"} mt={4} role="status">
          {text.trim().length} of {LONGEST} characters
        </Text>
      ) : null}
    </div>
  );
}

function useUnsent(chat: string) {
  const name = `compass.unsent.${chat}`;
  const [text, setText] = useState(() => inTab.get(name) ?? "");
  useEffect(() => inTab.set(name, text || null), [name, text]);
  return [text, setText] as const;
}

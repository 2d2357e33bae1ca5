import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { copy } from "./copy";

interface Props {
  text: string;
  label: string;
  size?: string;
}

const SHOWN = 2500; // ms that it is said

/** Copies a text, and says whether it did. */
export function CopyText({ text, label, size = "xs" }: Props) {
  const [said, say] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => say(null), SHOWN);
    return () => clearTimeout(timer);
  }, [said]);
  const click = async () => say((await copy(text)) ? "Copied" : "Copying did not work");
  return (
    <Button size={size} variant="default" flex="none" onClick={() => void click()}>
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  );
}

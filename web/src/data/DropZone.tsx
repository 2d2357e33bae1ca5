import { Button, Text } from "@mantine/core";
import { type DragEvent, useId, useRef, useState } from "react";
import css from "./data.module.css";

interface Props {
  label: string;
  note: string;
  /** As the file dialogue takes it: ".csv,.tsv". */
  accept: string;
  onFile: (file: File) => void;
}

/** A place to drop a file on, with a button that does the same from the keyboard. */
export function DropZone({ label, note, accept, onFile }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const told = useId();
  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) onFile(file);
  }
  return (
    <div
      className={css.drop}
      data-over={over || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={drop}
    >
      <Text fw={600}>{over ? "Let go to upload it" : "Drop a table here"}</Text>
      <Text size="sm" c="dimmed" id={told}>
        {note}
      </Text>
      <Button mt="sm" aria-describedby={told} onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        tabIndex={-1}
        aria-label={label}
        accept={accept}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = ""; // the same file can be chosen again
          if (file) onFile(file);
        }}
      />
    </div>
  );
}

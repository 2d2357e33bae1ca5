import { Popover, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import type { Draft, EngineInfo } from "@/api/types";
import { SpotEditor } from "./edit/SpotEditor";
import classes from "./question.module.css";
import { keyOf, type Part, sentence } from "./sentence";

interface Props {
  engine: EngineInfo;
  draft: Draft;
  onEdit: (draft: Draft) => void;
}

/** The question as a sentence; each part of it opens to be changed. */
export function SentenceView({ engine, draft, onEdit }: Props) {
  const [unfolded, unfold] = useState(false);
  const [open, setOpen] = useState<string | null>(null);
  const parts = sentence(draft, engine.space, unfolded);
  return (
    <div className={classes.sentence} role="group" aria-label="The question">
      {parts.map((part, i) => {
        const key = keyOf(part, i);
        if (part.as === "word")
          return (
            <span
              key={key}
              className={classes.word}
              data-joined={part.text.startsWith(",") || undefined}
            >
              {part.text}
            </span>
          );
        if (part.as === "more")
          return (
            <UnstyledButton
              key={key}
              className={classes.chip}
              data-as="more"
              onClick={() => unfold(true)}
            >
              {part.text}
            </UnstyledButton>
          );
        return (
          <Chip
            key={key}
            part={part}
            open={open === key}
            onOpen={(now) => setOpen(now ? key : null)}
          >
            <SpotEditor
              engine={engine}
              draft={draft}
              spot={part.spot}
              onEdit={onEdit}
              onClose={() => setOpen(null)}
            />
          </Chip>
        );
      })}
    </div>
  );
}

interface ChipProps {
  part: Extract<Part, { spot: unknown }>;
  open: boolean;
  onOpen: (open: boolean) => void;
  children: React.ReactNode;
}

function Chip({ part, open, onOpen, children }: ChipProps) {
  const as = part.as === "chip" && part.spot.part === "kind" ? "kind" : part.as;
  return (
    <Popover
      opened={open}
      onChange={onOpen}
      position="bottom-start"
      width={340}
      trapFocus
      returnFocus
      withinPortal
      shadow="md"
      radius="md"
    >
      <Popover.Target>
        <UnstyledButton
          className={classes.chip}
          data-as={as}
          data-code={(part.as === "chip" && part.code) || undefined}
          aria-label={part.as === "add" ? part.label : undefined}
          onClick={() => onOpen(!open)}
        >
          {part.text}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown maw="calc(100vw - 24px)">{open ? children : null}</Popover.Dropdown>
    </Popover>
  );
}

import { Tooltip, UnstyledButton } from "@mantine/core";
import type { Label } from "@/api/types";
import classes from "./TrustBadge.module.css";
import { TRUST } from "./trust";

interface Props {
  label: Label;
  /** Opens the evidence; without it the badge only tells. */
  onOpen?: () => void;
  /** What the badge is about, for screen readers: "suggestion 1". */
  of?: string;
}

/** How far something can be relied on, as a word and a shape. */
export function TrustBadge({ label, onOpen, of }: Props) {
  const { shape, meaning } = TRUST[label];
  const inside = (
    <>
      <span aria-hidden className={classes.shape}>
        {shape}
      </span>
      {label}
    </>
  );
  if (onOpen === undefined)
    return (
      <Tooltip label={meaning} multiline maw={280}>
        <span className={classes.badge} data-label={label}>
          {inside}
        </span>
      </Tooltip>
    );
  return (
    <Tooltip label={`${meaning}. Open the evidence`} multiline maw={280}>
      <UnstyledButton
        className={classes.badge}
        data-label={label}
        onClick={onOpen}
        aria-label={`${label}${of ? `, ${of}` : ""}: open the evidence`}
      >
        {inside}
        <span aria-hidden className={classes.more}>
          ›
        </span>
      </UnstyledButton>
    </Tooltip>
  );
}

import type { ReactNode } from "react";
import classes from "./Fold.module.css";

interface Props {
  title: ReactNode;
  children: ReactNode;
  open?: boolean;
  onOpen?: () => void;
}

/** Something that is there for whoever wants it. Opened without script, and printed in full. */
export function Fold({ title, children, open, onOpen }: Props) {
  return (
    <details
      className={classes.fold}
      open={open}
      onToggle={(event) => {
        if (event.currentTarget.open) onOpen?.();
      }}
    >
      <summary className={classes.summary}>{title}</summary>
      <div className={classes.inside}>{children}</div>
    </details>
  );
}

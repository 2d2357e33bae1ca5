import classes from "./Mark.module.css";

interface Props {
  shape: string;
  /** Which of the colours of trust. */
  label: string;
  children: string;
}

/** A word with a shape, in one of the colours of trust: for what is no label of a suggestion. */
export function Mark({ shape, label, children }: Props) {
  return (
    <span className={classes.mark} data-label={label}>
      <span aria-hidden>{shape}</span> {children}
    </span>
  );
}

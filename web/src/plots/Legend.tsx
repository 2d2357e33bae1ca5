import classes from "./Legend.module.css";

export interface LegendEntry {
  /** A character; or `line`, `dashed`, `dotted`, `bar`, `area`. */
  shape: string;
  colour: string;
  text: string;
}

const LINES = new Set(["line", "dashed", "dotted", "bar", "area"]);

/** What the marks of a plot mean, in words. Wraps, so that nothing is cut on a phone. */
export function Legend({ entries }: { entries: readonly LegendEntry[] }) {
  return (
    <ul className={classes.legend} aria-label="Legend">
      {entries.map(({ shape, colour, text }) => (
        <li key={text} className={classes.entry}>
          {LINES.has(shape) ? (
            <span aria-hidden className={classes[shape]} style={{ color: colour }} />
          ) : (
            <span aria-hidden className={classes.shape} style={{ color: colour }}>
              {shape}
            </span>
          )}
          {text}
        </li>
      ))}
    </ul>
  );
}

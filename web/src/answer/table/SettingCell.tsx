import type { Answer, Suggestion } from "@/api/types";
import { value } from "@/show/values";
import classes from "./table.module.css";

interface Props {
  answer: Answer;
  of: Suggestion;
  name: string;
}

/** A setting; what a suggestion changes is shown as old → new. */
export function SettingCell({ answer, of, name }: Props) {
  const moved = of.edits.find((one) => one.name === name);
  const now = value(of.config[name]);
  if (moved === undefined) return <span className={classes.setting}>{now}</span>;
  const forced = moved.forced_by ? (
    <span className={classes.old} title={`forced by ${moved.forced_by}`}>
      {" "}
      (forced)
    </span>
  ) : null;
  if (answer.query.kind === "recommend")
    return (
      <span className={classes.setting}>
        {now}
        {forced}
      </span>
    );
  return (
    <span className={classes.setting}>
      <span className={classes.old}>{value(moved.old)}</span>{" "}
      <span role="img" aria-label="becomes">
        →
      </span>{" "}
      <span className={classes.moved}>{now}</span>
      {forced}
    </span>
  );
}

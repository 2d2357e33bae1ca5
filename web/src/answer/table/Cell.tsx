import { Radio } from "@mantine/core";
import { memo } from "react";
import type { Answer, Suggestion } from "@/api/types";
import { TrustBadge } from "@/show/TrustBadge";
import { number } from "@/show/values";
import { goalOf, severalGoals } from "../goals";
import { type Column, prediction } from "./columns";
import { Meets } from "./Meets";
import { OutcomeCell } from "./OutcomeCell";
import { SettingCell } from "./SettingCell";
import classes from "./table.module.css";

export interface Picking {
  chosen: boolean;
  onPick: (at: number) => void;
  onEvidence: (at: number) => void;
}

interface Props extends Picking {
  answer: Answer;
  column: Column;
  at: number;
  of: Suggestion;
  group: string;
}

/** One cell of the table of suggestions; when another row is chosen, only ranks are made again. */
export const Cell = memo(function Cell(props: Props) {
  const { answer, column, at, of, chosen, onPick, onEvidence, group } = props;
  switch (column.kind) {
    case "rank":
      return (
        <span className={classes.rank}>
          <Radio
            size="md"
            name={group}
            value={String(at)}
            checked={chosen}
            onChange={() => onPick(at)}
            aria-label={`Choose suggestion ${at + 1}`}
          />
          {at + 1}
        </span>
      );
    case "setting":
      return <SettingCell answer={answer} of={of} name={column.name} />;
    case "outcome": {
      const found = prediction(of, column.name);
      return found ? (
        <OutcomeCell
          outcome={found}
          goal={goalOf(answer, column.name)}
          missed={severalGoals(of.outcomes)}
        />
      ) : null;
    }
    case "distance":
      return number(of.distance);
    case "meets":
      return <Meets of={of} asked={answer.chance} />;
    case "trust":
      return (
        <TrustBadge
          label={of.trust.label}
          of={`suggestion ${at + 1}`}
          onOpen={() => onEvidence(at)}
        />
      );
  }
});

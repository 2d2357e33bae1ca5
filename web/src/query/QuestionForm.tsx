import { Button, CloseButton, Fieldset, SegmentedControl, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Draft, EngineInfo, Kind } from "@/api/types";
import { KINDS } from "./describe";
import {
  columns,
  kindOf,
  type Whole,
  whole,
  withChange,
  withGoal,
  withKeep,
  withKind,
  withoutChange,
  withoutGoal,
  withParameters,
} from "./draft";
import { AdvancedFields } from "./edit/AdvancedFields";
import { BaselineFields } from "./edit/BaselineFields";
import { ChangeFields } from "./edit/ChangeFields";
import { GoalFields } from "./edit/GoalFields";
import { ParametersField } from "./edit/ParametersField";
import { RuleList } from "./edit/RuleList";
import { CountField } from "./edit/SpotEditor";
import classes from "./question.module.css";

interface Props {
  engine: EngineInfo;
  draft: Draft;
  onEdit: (draft: Draft) => void;
}

/** Everything that a question can say, as a form. */
export function QuestionForm({ engine, draft: given, onEdit }: Props) {
  const draft = whole(given);
  const kind = kindOf(draft);
  const inner = { engine, draft, kind, onEdit };
  return (
    <div className={classes.form}>
      <SegmentedControl
        aria-label="Kind of question"
        data={Object.entries(KINDS).map(([value, { verb }]) => ({ value, label: verb }))}
        value={kind ?? ""}
        onChange={(chosen) => onEdit(withKind(draft, chosen as Kind))}
        fullWidth
      />
      {kind === "what-if" ? <Changes {...inner} /> : null}
      {kind === null || kind === "recommend" ? null : <Start {...inner} />}
      <Fieldset legend={kind === "what-if" ? "What may adapt" : "Parameters"}>
        <Stack gap="sm">
          <ParametersField
            columns={columns(engine.space, "knob", "context")}
            draft={draft}
            onChange={(ask, all) => onEdit(withParameters(draft, ask, all))}
          />
          <ParametersField
            columns={columns(engine.space, "knob")}
            draft={draft}
            keeping
            onChange={(keep) => onEdit(withKeep(draft, keep))}
          />
        </Stack>
      </Fieldset>
      <Goals {...inner} />
      <Fieldset legend="Rules">
        <RuleList space={engine.space} draft={draft} onEdit={onEdit} />
      </Fieldset>
      {kind === "what-if" || Object.keys(draft.change).length === 0 ? null : <Changes {...inner} />}
      <Fieldset legend="More">
        <Stack gap="sm">
          <CountField draft={draft} onChange={(count) => onEdit({ ...draft, count })} />
          <AdvancedFields draft={draft} onEdit={onEdit} />
        </Stack>
      </Fieldset>
    </div>
  );
}

interface Inner {
  engine: EngineInfo;
  draft: Whole;
  kind: Kind | null;
  onEdit: (draft: Draft) => void;
}

function Start({ engine, draft, kind, onEdit }: Inner) {
  return (
    <Fieldset legend="Starting run">
      <BaselineFields
        engine={engine}
        draft={draft}
        baseline={draft.baseline ?? null}
        onChange={(baseline) => onEdit({ ...draft, baseline })}
      />
      {kind === "what-if" && !draft.baseline ? (
        <Text size="sm" c="dimmed" mt="xs">
          Without one, all past runs are looked at.
        </Text>
      ) : null}
    </Fieldset>
  );
}

function Goals({ engine, draft, kind, onEdit }: Inner) {
  const names = Object.keys(draft.goals);
  const outcomes = columns(engine.space, "outcome").length;
  return (
    <Entries
      legend="Outcomes"
      add="Add an outcome"
      names={names}
      full={names.length >= outcomes}
      onRemove={(name) => onEdit(withoutGoal(draft, name))}
    >
      {(name, done) => (
        <GoalFields
          space={engine.space}
          kind={kind}
          name={name}
          goal={name === null ? null : (draft.goals[name] ?? null)}
          taken={names}
          onChange={(of, goal) => {
            if (!goal) return;
            onEdit(withGoal(draft, of, goal, name ?? undefined));
            done();
          }}
        />
      )}
    </Entries>
  );
}

function Changes({ engine, draft, onEdit }: Inner) {
  const names = Object.keys(draft.change);
  return (
    <ChangeEntries names={names} onRemove={(name) => onEdit(withoutChange(draft, name))}>
      {(name, done) => (
        <ChangeEntry
          engine={engine}
          draft={draft}
          name={name}
          onEdit={(next) => {
            onEdit(next);
            done();
          }}
        />
      )}
    </ChangeEntries>
  );
}

function ChangeEntries(props: Pick<EntriesProps, "names" | "onRemove" | "children">) {
  return <Entries legend="Changes" add="Add a change" full={false} {...props} />;
}

type ChangeEntryProps = Omit<Inner, "kind"> & { name: string | null };

function ChangeEntry({ engine, draft, name, onEdit }: ChangeEntryProps) {
  const [chosen, setChosen] = useState(name);
  return (
    <ChangeFields
      space={engine.space}
      name={chosen}
      edit={name === null ? null : (draft.change[name] ?? null)}
      taken={Object.keys(draft.change)}
      onChange={(of, edit) => {
        setChosen(of);
        if (edit) onEdit(withChange(draft, of, edit, name ?? undefined));
      }}
    />
  );
}

interface EntriesProps {
  legend: string;
  add: string;
  names: string[];
  full: boolean;
  onRemove: (name: string) => void;
  /** The fields of one entry, or of a new one; `done` is called when the new one is there. */
  children: (name: string | null, done: () => void) => ReactNode;
}

/** A list to which entries are added. */
function Entries({ legend, add, names, full, onRemove, children }: EntriesProps) {
  const [adding, setAdding] = useState(false);
  const open = adding || names.length === 0;
  return (
    <Fieldset legend={legend}>
      <Stack gap="sm">
        {names.map((name) => (
          <div key={name} className={classes.entry}>
            <div className={classes.row} style={{ alignItems: "start" }}>
              {children(name, () => undefined)}
              <CloseButton aria-label={`Remove ${name}`} onClick={() => onRemove(name)} />
            </div>
          </div>
        ))}
        {open ? (
          <div className={classes.entry}>{children(null, () => setAdding(false))}</div>
        ) : null}
        {open || full ? null : (
          <Button
            variant="default"
            size="xs"
            onClick={() => setAdding(true)}
            style={{ alignSelf: "start" }}
          >
            {add}
          </Button>
        )}
      </Stack>
    </Fieldset>
  );
}

import { Button, Group, NumberInput, Radio, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { Draft, EngineInfo, Kind } from "@/api/types";
import { KINDS } from "../describe";
import {
  columns,
  kindOf,
  whole,
  withChange,
  withGoal,
  withKeep,
  withKind,
  withOption,
  withoutAsk,
  withoutChange,
  withoutGoal,
  withoutRule,
  withParameters,
  withRule,
} from "../draft";
import type { Spot } from "../sentence";
import { BaselineFields } from "./BaselineFields";
import { ChanceField } from "./ChanceField";
import { ChangeFields } from "./ChangeFields";
import { GoalFields } from "./GoalFields";
import { ParametersField } from "./ParametersField";
import { RuleFields } from "./RuleFields";

interface Props {
  engine: EngineInfo;
  draft: Draft;
  spot: Spot;
  onEdit: (draft: Draft) => void;
  onClose: () => void;
}

const TITLES: Record<Spot["part"], string> = {
  kind: "What would you like to know?",
  ask: "Parameters to find values for",
  everything: "Parameters to find values for",
  keep: "Parameters that stay as they are",
  change: "What changes",
  goal: "What the outcome should become",
  rule: "A rule that every suggestion obeys",
  baseline: "Where to start",
  count: "How many suggestions",
  chance: "How likely a new run has to meet each goal",
};

/** The small form behind a chip. Nothing changes before it is applied. */
export function SpotEditor({ engine, draft, spot, onEdit, onClose }: Props) {
  // undefined: nothing was touched; null: something is missing.
  const [next, setNext] = useState<Draft | null | undefined>(undefined);
  const adds = isAdding(spot, draft);
  const removed = withoutSpot(draft, spot);
  function apply(event: FormEvent) {
    event.preventDefault();
    event.stopPropagation();
    if (next) onEdit(next);
    if (next !== null) onClose();
  }
  return (
    <form onSubmit={apply}>
      <Stack gap="sm">
        <Text size="sm" fw={600}>
          {TITLES[spot.part]}
        </Text>
        <Fields engine={engine} draft={draft} spot={spot} onNext={setNext} />
        <Group justify="space-between" mt={4}>
          <Button type="submit" size="xs" disabled={!next}>
            {adds ? "Add" : "Apply"}
          </Button>
          {removed ? (
            <Button
              size="xs"
              variant="subtle"
              color="red"
              onClick={() => {
                onEdit(removed);
                onClose();
              }}
            >
              {spot.part === "baseline" ? "Use all past runs" : "Remove"}
            </Button>
          ) : null}
        </Group>
      </Stack>
    </form>
  );
}

function isAdding(spot: Spot, draft: Draft): boolean {
  if (spot.part === "rule") return spot.at === undefined;
  if (spot.part === "goal" || spot.part === "change") return spot.name === undefined;
  return spot.part === "baseline" && !draft.baseline;
}

/** The draft without the part; null where it cannot be taken out. */
function withoutSpot(draft: Draft, spot: Spot): Draft | null {
  if (spot.part === "rule" && spot.at !== undefined) return withoutRule(draft, spot.at);
  if (spot.part === "goal" && spot.name) return withoutGoal(draft, spot.name);
  if (spot.part === "change" && spot.name) return withoutChange(draft, spot.name);
  if (spot.part === "ask" && spot.name) return withoutAsk(draft, spot.name);
  if (spot.part === "keep" && spot.name)
    return withKeep(
      draft,
      draft.keep.filter((one) => one !== spot.name),
    );
  if (spot.part === "baseline" && draft.baseline && kindOf(draft) === "what-if")
    return { ...draft, baseline: null };
  if (spot.part === "chance") return withOption(draft, { chance: null });
  return null;
}

type FieldsProps = Pick<Props, "engine" | "draft" | "spot"> & {
  onNext: (draft: Draft | null) => void;
};

function Fields({ engine, draft: given, spot, onNext }: FieldsProps) {
  const draft = whole(given);
  // What was chosen so far, for fields that hold nothing themselves.
  const [chosen, choose] = useState(draft);
  const { space } = engine;
  const kind = kindOf(draft);
  function next(now: Draft, complete = true) {
    choose(whole(now));
    onNext(complete ? now : null);
  }
  const [name, setName] = useState("name" in spot ? (spot.name ?? null) : null);
  const was = "name" in spot ? spot.name : undefined;
  switch (spot.part) {
    case "kind":
      return <KindField kind={kind} onChange={(to) => onNext(withKind(draft, to))} />;
    case "ask":
    case "everything":
      return (
        <ParametersField
          columns={columns(space, "knob", "context")}
          draft={chosen}
          onChange={(ask, all) => next(withParameters(draft, ask, all), all || ask.length > 0)}
        />
      );
    case "keep":
      return (
        <ParametersField
          columns={columns(space, "knob")}
          draft={chosen}
          keeping
          onChange={(keep) => next(withKeep(draft, keep))}
        />
      );
    case "goal":
      return (
        <GoalFields
          space={space}
          kind={kind}
          name={name}
          goal={was ? (draft.goals[was] ?? null) : null}
          taken={Object.keys(draft.goals)}
          onChange={(of, goal) => {
            setName(of);
            onNext(goal && withGoal(draft, of, goal, was));
          }}
        />
      );
    case "change":
      return (
        <ChangeFields
          space={space}
          name={name}
          edit={was ? (draft.change[was] ?? null) : null}
          taken={Object.keys(draft.change)}
          onChange={(of, edit) => {
            setName(of);
            onNext(edit && withChange(draft, of, edit, was));
          }}
        />
      );
    case "rule": {
      const text = spot.at === undefined ? "" : (draft.where[spot.at] ?? "");
      return (
        <RuleFields
          space={space}
          text={text}
          onChange={(rule) => onNext(rule ? withRule(draft, rule, spot.at) : null)}
        />
      );
    }
    case "baseline":
      return (
        <BaselineFields
          engine={engine}
          draft={draft}
          baseline={draft.baseline ?? null}
          onChange={(baseline) => onNext(baseline && { ...draft, baseline })}
        />
      );
    case "count":
      return <CountField draft={chosen} onChange={(count) => next({ ...draft, count })} />;
    case "chance":
      return (
        <ChanceField
          chance={chosen.options.chance ?? null}
          onChange={(chance) => next(withOption(draft, { chance }), chance !== null)}
        />
      );
  }
}

function KindField({ kind, onChange }: { kind: Kind | null; onChange: (kind: Kind) => void }) {
  return (
    <Radio.Group
      aria-label="Kind of question"
      defaultValue={kind}
      onChange={(chosen) => onChange(chosen as Kind)}
    >
      <Stack gap="sm">
        {Object.entries(KINDS).map(([value, { title, meaning }]) => (
          <Radio key={value} value={value} label={title} description={meaning} />
        ))}
      </Stack>
    </Radio.Group>
  );
}

export function CountField({
  draft,
  onChange,
}: {
  draft: Draft;
  onChange: (count: number | null) => void;
}) {
  return (
    <NumberInput
      label="Suggestions"
      description="Up to 1,000; leave it empty for the usual number"
      value={draft.count ?? ""}
      onChange={(given) =>
        onChange(given === "" ? null : Math.min(1000, Math.max(1, Number(given))))
      }
      min={1}
      max={1000}
      allowDecimal={false}
      allowNegative={false}
      data-autofocus
    />
  );
}

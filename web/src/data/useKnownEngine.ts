/** The engine that a table has already, with the choices as they stand. */
import { useQueries } from "@tanstack/react-query";
import { $api } from "@/api/client";
import { useList } from "@/api/lists";
import type { ColumnsView, DatasetInfo, EngineInfo, NewEngine } from "@/api/types";
import { alreadyLearnt, type Choices, candidates, inputsProblem, newEngine } from "./learn";
import { outcomeNames } from "./study";
import type { StudyEditor } from "./useStudy";

interface Known {
  /** What the server would be asked for; null: what was typed is not understood. */
  wanted: NewEngine | null;
  engine: EngineInfo | null;
}

export function useKnownEngine(
  info: DatasetInfo,
  editor: StudyEditor,
  view: ColumnsView,
  choices: Choices,
): Known {
  const engines = useList("/api/v1/engines");
  const outcomes = outcomeNames(editor.study, view.columns);
  const typed = outcomes.some(
    (name) => choices.models[name] && inputsProblem(choices.inputs[name] ?? ""),
  );
  const rows = view.cleaning.rows_out;
  const wanted = typed ? null : newEngine(info, editor.study, choices, rows, outcomes);
  const maybe = wanted ? candidates(engines.data ?? [], wanted) : [];
  const looked = useQueries({
    queries: maybe.map(({ id }) =>
      $api.queryOptions("get", "/api/v1/engines/{id}", { params: { path: { id } } }),
    ),
  });
  const known = looked.flatMap((one) => (one.data ? [one.data] : []));
  return { wanted, engine: wanted ? alreadyLearnt(known, wanted) : null };
}

import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { HEALTH, whenBack } from "@/api/back";
import { $api, api, data } from "@/api/client";
import type { ColumnsView, DatasetInfo, Study } from "@/api/types";
import { inTurn } from "./inTurn";
import { keep, kept } from "./kept";
import { meaning, sameStudy, tidy } from "./study";

const PAUSE = 450; // ms without an edit before it is checked

/** How an edit stands: `here` is kept in this browser, as the data of the operator stays as it is. */
export type Saved = "saved" | "saving" | "wrong" | "here" | "untouched";

export interface StudyEditor {
  study: Study;
  /** What it was before anything was edited: what the operator says, or nothing. */
  base: Study;
  /** The table seen through the last study that was right; null: not looked at yet. */
  view: ColumnsView | null;
  problem: unknown;
  saved: Saved;
  /** Whether `view` is about `study`, as it stands now. */
  settled: boolean;
  edit: (change: (study: Study) => Study) => void;
  undo: (() => void) | null;
  again: () => void;
}

const place = (dataset: string) => `compass.study.${dataset}`;
const NOTHING: Study = {
  columns: {},
  drop: [],
  rules: [],
  dependencies: [],
  trust: {},
  machines: { throughput: false },
};

/** What is said about a table: edited here, checked by the server, and kept. */
export function useStudy(info: DatasetInfo): StudyEditor {
  const [server, setServer] = useState(() => tidy(info.study ?? NOTHING));
  const [study, setStudy] = useState<Study>(() => kept<Study>(place(info.id)) ?? server);
  const [calm] = useDebouncedValue(study, PAUSE);
  const checked = useChecked(info.id, calm);
  const base = info.shared ? server : NOTHING;
  const { problem: unsaved, save } = useSave(info, setServer);
  const right = checked.isSuccess && meaning(calm) === meaning(study);

  useEffect(() => {
    // Kept in the browser until the server has it, and for good where the server may not.
    keep(place(info.id), sameStudy(study, server) ? null : study);
  }, [study, server, info.id]);
  useEffect(() => {
    if (right && !info.shared && !sameStudy(study, server)) save(study);
  }, [right, info.shared, study, server, save]);
  useEffect(() => {
    // What could not be saved while the server was gone.
    if (right && unsaved) return whenBack(() => save(study));
  }, [right, unsaved, study, save]);

  const [good, setGood] = useState<{ view: ColumnsView; study: Study } | null>(null);
  if (checked.data && good?.view !== checked.data) setGood({ view: checked.data, study: calm });

  const edit = useCallback((change: (study: Study) => Study) => setStudy(change), []);
  const problem = checked.error ?? unsaved;
  return {
    study,
    base,
    view: good?.view ?? null,
    problem,
    saved: state(study, server, Boolean(info.shared), Boolean(problem)),
    settled: right,
    edit,
    undo: checked.error && good ? () => setStudy(good.study) : null,
    again: () => {
      void checked.refetch();
      if (unsaved) save(study);
    },
  };
}

function state(study: Study, server: Study, shared: boolean, wrong: boolean): Saved {
  if (wrong) return "wrong";
  if (sameStudy(study, server)) return shared ? "untouched" : "saved";
  return shared ? "here" : "saving";
}

function useChecked(id: string, study: Study) {
  return useQuery({
    queryKey: ["columns", id, meaning(study)],
    queryFn: async ({ signal }) => {
      const checked = await api.POST("/api/v1/datasets/{id}/columns/check", {
        params: { path: { id } },
        body: { study, mine: false },
        signal,
      });
      // The client forgets that a pair is one: (label, rows) comes back as a list of either.
      return data(checked) as unknown as ColumnsView;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

// By dataset and for the whole page: one that is left and opened again still waits for its turn.
const savers = new Map<string, (study: Study) => Promise<boolean>>();

function saverOf(id: string): (study: Study) => Promise<boolean> {
  const params = { path: { id } };
  const found =
    savers.get(id) ??
    inTurn((body: Study) => api.PUT("/api/v1/datasets/{id}/study", { params, body }));
  savers.set(id, found);
  return found;
}

function knownAs(id: string) {
  return $api.queryOptions("get", "/api/v1/datasets/{id}", { params: { path: { id } } }).queryKey;
}

/** Sends a study to the server; of several, the last one wins. */
function useSave(info: DatasetInfo, onSaved: (study: Study) => void) {
  const [problem, setProblem] = useState<unknown>(null);
  const queries = useQueryClient();
  const last = useRef<string>("");
  const save = useCallback(
    (study: Study) => {
      const mine = meaning(study);
      if (last.current === mine) return;
      last.current = mine;
      setProblem(null);
      void (async () => {
        try {
          if (!(await saverOf(info.id)(study))) return;
          onSaved(study);
          // Whoever leaves the page and comes back begins with what is known of the data.
          queries.setQueryData(knownAs(info.id), (old?: DatasetInfo) => old && { ...old, study });
          void queries.invalidateQueries({ queryKey: ["get", "/api/v1/datasets"] });
        } catch (error) {
          setProblem(error);
          // The next regular look may come when the server is back already, and miss that.
          void queries.refetchQueries({ queryKey: HEALTH });
        }
        if (last.current === mine) last.current = "";
      })();
    },
    [info.id, onSaved, queries],
  );
  return { problem, save };
}

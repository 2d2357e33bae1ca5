import { Skeleton, Stack } from "@mantine/core";
import { lazy, Suspense } from "react";
import { $api } from "@/api/client";
import type { AnswerView, Explanation, Suggestion } from "@/api/types";
import { Held } from "@/show/Held";
import { ProblemNote } from "@/show/ProblemNote";

const Contributions = lazy(() => import("@/plots/Contributions"));

interface Props {
  view: AnswerView;
  of: Suggestion;
  /** Its place among the suggestions of the answer; null: it is an idea. */
  suggestion: number | null;
}

/** What each parameter contributes to the predictions of a suggestion. */
export function Contributed({ view, of, suggestion }: Props) {
  const { baseline } = view.answer;
  const found = $api.useQuery(
    "post",
    "/api/v1/engines/{id}/explanations",
    {
      params: { path: { id: view.engine } },
      body: {
        ...(suggestion === null ? { given: of } : { answer: view.id }),
        suggestion: (suggestion ?? 0) + 1,
        outcomes: [],
        // Of a change, the question is what the change does.
        ...(baseline ? { against: baseline } : {}),
      },
    },
    { staleTime: Number.POSITIVE_INFINITY, retry: false },
  );
  if (found.isPending)
    return <Skeleton height={180} role="status" aria-label="Loading the contributions" />;
  if (found.error) return <ProblemNote error={found.error} onAgain={() => found.refetch()} />;
  return (
    <Stack gap="lg">
      {found.data.map((one) => (
        <One key={one.target} explanation={one} />
      ))}
    </Stack>
  );
}

function One({ explanation }: { explanation: Explanation }) {
  return (
    <div>
      <Held>
        <Suspense fallback={<Skeleton height={160} role="status" aria-label="Loading the plot" />}>
          <Contributions explanation={explanation} />
        </Suspense>
      </Held>
    </div>
  );
}
